/* What moves in the playground, and why not, by the charts that charts.js holds.  Nothing here touches the page:
   the tests compare it with the Python charts on every path up to a bound. */
"use strict";

const BUSY = ["New", "Running", "Resuming"];
const FOLLOWS = ["suspend", "resume"];

const a = (subject) => (/^[aeiou]/.test(subject) ? `an ${subject}` : `a ${subject}`);
const unique = (list) => [...new Set(list)];

function listed(names, last) {
  const most = names.slice(0, -1);
  return most.length ? `${most.join(", ")} ${last} ${names.at(-1)}` : names.at(-1);
}

const eventsOf = (chart) => unique(chart.arrows.map((arrow) => arrow.on));
const factsOf = (chart) => unique(chart.arrows.flatMap((arrow) => arrow.if.map((g) => g.replace(/^not /, ""))));
const stateOf = (chart, id) => chart.states.find((state) => state.id === id);

function holds(guard, facts) {
  const name = guard.replace(/^not /, "");
  return facts.includes(name) === (name === guard);
}

/* What an event does in a state while some facts hold: {arrow}, or {refused, clause}. */
function react(chart, state, event, facts = []) {
  const cell = chart.arrows.filter((arrow) => arrow.from === state && arrow.on === event);
  const arrow = cell.find((one) => one.if.every((guard) => holds(guard, facts)));
  return arrow ? { arrow } : refusal(chart, state, event, cell);
}

function refusal(chart, state, event, cell) {
  const clause = stateOf(chart, state).closed;
  const here = `${a(chart.subject)} in ${state}`;
  if (cell.length) {
    const when = cell.map((arrow) => `when ${arrow.if.join(" and ")}`).join(" or ");
    return { refused: `${here} takes ${event} only ${when} (${clause})`, clause };
  }
  const takes = unique(chart.arrows.filter((arrow) => arrow.from === state).map((arrow) => arrow.on));
  const taken = takes.length ? listed(takes, "or") : "nothing, it is final";
  const known = eventsOf(chart).includes(event);
  const sent = known ? `it was sent ${event}` : `it was sent ${event || "nothing"}, which no ${chart.subject} takes`;
  return { refused: `${here} takes ${taken}; ${sent} (${clause})`, clause };
}

function derive(calls) {
  if (calls.some((call) => BUSY.includes(call))) return "Running";
  return calls.includes("Suspended") ? "Waiting" : "RoundComplete";
}

/* A run and its calls, as tests/doubles/playback.py joins them. */
class Game {
  constructor(data, profile) {
    this.call = data.charts.ToolCall;
    this.run = data.charts[data.profiles[profile].run];
    this.mixed = data.profiles[profile].mixed;
  }

  begin(calls) {
    return { run: this.run.initial, calls: Array(calls).fill(this.call.initial) };
  }

  events(calls) {
    const own = eventsOf(this.run).filter((event) => !FOLLOWS.includes(event)).map((event) => ["run", event]);
    const each = Array.from({ length: calls }, (_, at) => eventsOf(this.call).map((event) => [`c${at + 1}`, event]));
    return [...own, ...each.flat()];
  }

  play(joint, who, event) {
    return who === "run" ? this.onRun(joint, event) : this.onCall(joint, Number(who.slice(1)), event);
  }

  onCall(joint, number, event) {
    const stays = (refused) => ({ joint, rows: [], refused });
    if (joint.run === "Created") return stays("a run that is Created has no calls yet; it begins first (RUN-17)");
    if (joint.run === "Done") return stays("a run that is Done opens no gate, so no call of it moves (RUN-20)");
    const answer = react(this.call, joint.calls[number - 1], event);
    if (answer.refused) return stays(answer.refused);
    const calls = joint.calls.with(number - 1, answer.arrow.to);
    return this.follow({ joint: { ...joint, calls }, rows: [[`c${number}`, answer.arrow]], refused: "" });
  }

  follow(played) {
    const { run, calls } = played.joint;
    const waits = derive(calls) === "Waiting";
    const all = calls.every((call) => call === "Suspended");
    if (run === "Running" && waits && (this.mixed === "wait" || all)) return this.move(played, "suspend");
    return run === "Waiting" && !waits ? this.move(played, "resume") : played;
  }

  move(played, event) {
    const answer = react(this.run, played.joint.run, event);
    if (answer.refused) return { ...played, refused: answer.refused };
    const joint = { ...played.joint, run: answer.arrow.to };
    return { joint, rows: [...played.rows, ["run", answer.arrow]], refused: "" };
  }

  onRun(joint, event) {
    const played = { joint, rows: [], refused: "" };
    if (event === "natural_end" && joint.run === "Running") {
      const live = joint.calls.findIndex((call) => BUSY.includes(call));
      if (live >= 0) {
        const here = `call c${live + 1} is ${joint.calls[live]}`;
        return { ...played, refused: `${here}, and a run ends when none is live (RUN-3)` };
      }
      if (joint.calls.includes("Suspended")) return this.move(played, "suspend");
    }
    const after = this.move(played, event);
    return event === "cancelled" && !after.refused ? this.cancel(after) : after;
  }

  cancel(played) {
    return played.joint.calls.reduce((now, call, at) => {
      const answer = react(this.call, call, "cancel");
      if (answer.refused) return now;
      const calls = now.joint.calls.with(at, answer.arrow.to);
      return { joint: { ...now.joint, calls }, rows: [...now.rows, [`c${at + 1}`, answer.arrow]], refused: "" };
    }, played);
  }
}
