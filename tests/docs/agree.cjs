// Answers for the page's own script what tests/docs/test_play.py asks of the Python charts.
const fs = require("node:fs");
const vm = require("node:vm");
const [dataFile, scriptFile, asked] = process.argv.slice(2);
vm.runInThisContext(fs.readFileSync(dataFile, "utf8"));
const { Game, eventsOf, factsOf, moments, packed, react, unpacked } = require(scriptFile);
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

async function main() {
  const question = JSON.parse(asked);
  if (question.what === "cells") return [...cells(question.family)];
  if (question.what === "paths") return [...paths(question.profile, question.calls, question.length)];
  const text = fs.readFileSync(question.trace, "utf8");
  return { moments: moments(text, data), same: (await unpacked(await packed(text))) === text };
}

main().then((found) => process.stdout.write(JSON.stringify(found)));
