// Answers for the page's own scripts what tests/docs/test_play.py asks of the Python charts.
const fs = require("node:fs");
const vm = require("node:vm");
const [asked, ...scripts] = process.argv.slice(2);
for (const script of scripts) vm.runInThisContext(fs.readFileSync(script, "utf8"));
const data = globalThis.RUNLOCK;

function subsets(list) {
  return list.reduce((found, one) => [...found, ...found.map((some) => [...some, one])], [[]]);
}

function* cells(family) {
  for (const chart of Object.values((data.families[family] ?? data).charts)) {
    for (const { id } of chart.states) {
      for (const event of [...eventsOf(chart), "nothing_of_it", ""]) {
        for (const facts of subsets(factsOf(chart))) {
          const answer = react(chart, id, event, facts);
          yield [chart.chart, id, event, facts.toSorted().join(), answer.arrow?.clause ?? "", answer.refused ?? ""];
        }
      }
    }
  }
}

function* paths(profile, calls, length) {
  const game = new Game(data, profile);
  const ways = [[[], game.begin(calls)]];
  while (ways.length) {
    const [way, joint] = ways.pop();
    for (const [who, event] of game.events(calls)) {
      const played = game.play(joint, who, event);
      const rows = played.rows.map(([one, arrow]) => `${one} ${arrow.clause}`).join();
      yield [[...way, `${who} ${event}`].join("/"), played.joint.run, played.joint.calls.join(), rows, played.refused];
      if (!played.refused && way.length + 1 < length) ways.push([[...way, `${who} ${event}`], played.joint]);
    }
  }
}

/* Every move from every place that can be come to. */
function* joints(family) {
  const machine = new Explored(globalThis.JOINTS[family]);
  const met = new Set([machine.start]);
  for (const at of met) {
    const offered = machine.groups(at).flatMap(({ moves }) => moves);
    for (const [move] of offered) {
      const sent = machine.send(at, move);
      yield [machine.cells(at), sent.told, machine.cells(sent.at)];
      met.add(sent.at);
    }
  }
}

/* Where an address leads: what was said at each step, and where everything stands in the end. */
function led(address) {
  const wish = new URLSearchParams(address);
  const steps = replay(machineOf(wish), movesIn(wish.get("moves")));
  return { told: steps.map((one) => one.told), refused: steps.map((one) => one.refused), cells: machineOf(wish).cells(steps.at(-1).at) };
}

function machineOf(wish) {
  if (wish.has("joint")) return new Explored(globalThis.JOINTS[wish.get("joint")]);
  const family = data.families[wish.get("family")] ?? data;
  if (wish.has("chart")) return new Alone(family.charts[wish.get("chart")]);
  return new Joined(data, wish.get("profile"), Number(wish.get("calls")));
}

async function traced(file) {
  const text = fs.readFileSync(file, "utf8");
  const { moments, verdict } = traceIn(text, data);
  return { moments, verdict, same: (await unpacked(await packed(text))) === text };
}

async function main() {
  const question = JSON.parse(asked);
  if (question.what === "cells") return [...cells(question.family)];
  if (question.what === "paths") return [...paths(question.profile, question.calls, question.length)];
  if (question.what === "joints") return [...joints(question.family)];
  if (question.what === "presets") return Object.fromEntries(PRESETS.map(([words, address]) => [words, led(address)]));
  if (question.what === "address") return led(question.address);
  return traced(question.trace);
}

main().then((found) => process.stdout.write(JSON.stringify(found)));
