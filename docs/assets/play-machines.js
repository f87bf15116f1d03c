/* What can be played: one chart, a run with its calls, or everything that charts do together.  Each starts at a
   place, sends a move from one place to a step that leads to the next, and says what there is to send and to see. */
"use strict";

const DECIDED = {
  Suspended: { resume: "Approve", cancel: "Reject" },
  Prompting: { allow: "Approve", deny: "Reject" },
  Granting: { allow: "Approve", deny: "Reject" },
};
/* The events that a person's decision is, by the state that waits for it. */

const DECIDED_JOINTLY = {
  Suspended: { is_decided_resume: "Approve", is_decided_cancel: "Reject" },
  Prompting: { is_allowed_once: "Approve", is_denied: "Reject" },
};
/* The same for the moves between joint states. */

const HINT = "Send an event. One that is pale will be refused, and it is said why.";
const HINT_EXPLORED = "Make a move. Each that is possible here has a button.";

const WHO = { runtime: "the runtime", world: "model, tools and people", trouble: "trouble" };

const taken = (who, arrow) => `${who}: ${arrow.on} to ${arrow.to}, ${arrow.when} (${arrow.clause})`;

function decisions(state, send) {
  return Object.entries(DECIDED[state] ?? {}).filter(([event]) => !send(event).refused);
}

/* One chart; a move is an event, and the facts that hold while it is sent: whole*changed. */
class Alone {
  constructor(chart) {
    this.chart = chart;
    this.heads = ["state"];
    this.charts = [chart.chart];
    this.start = chart.initial;
    this.opening = "it begins";
    this.facts = factsOf(chart);
    this.hint = HINT;
  }

  send(state, move) {
    const [event, ...facts] = move.split("*");
    const answer = react(this.chart, state, event, facts);
    const { arrow } = answer;
    if (!arrow) return { at: state, refused: true, told: answer.refused, arrows: [] };
    return { at: arrow.to, refused: false, told: taken(this.chart.subject, arrow), arrows: [[this.chart.chart, arrow]] };
  }

  groups(state, facts) {
    const move = (event) => [event, ...facts].join("*");
    const able = (event) => this.send(state, move(event));
    const moves = eventsOf(this.chart).map((event) => [move(event), event, !able(event).refused]);
    const decided = decisions(state, able).map(([event, words]) => [move(event), words]);
    return [{ title: this.chart.subject, now: state, moves, decided }];
  }

  cells = (state) => [state];
  lit = (state) => [[this.chart.chart, state, ""]];
  notes = () => "";
}

/* A run and its calls; a move is who and what: c1.suspend. */
class Joined {
  constructor(data, profile, calls) {
    this.game = new Game(data, profile);
    this.ids = Array.from({ length: calls }, (_, at) => `c${at + 1}`);
    this.heads = [...this.ids, "run"];
    this.charts = [this.game.call.chart, this.game.run.chart];
    this.start = this.game.begin(calls);
    this.opening = `the model asks for ${this.ids.join(", ")}`;
    this.facts = [];
    this.hint = HINT;
  }

  send(joint, move) {
    const [who, event = ""] = move.split(".");
    const stays = (told) => ({ at: joint, refused: true, told, arrows: [] });
    if (who !== "run" && !this.ids.includes(who)) return stays(`There is no ${who} here.`);
    const { joint: at, rows, refused } = this.game.play(joint, who, event);
    if (refused) return stays(`${`${who} ${event}`.trim()} is refused: ${refused}`);
    const arrows = rows.map(([mover, arrow]) => [mover === "run" ? this.game.run.chart : this.game.call.chart, arrow]);
    return { at, refused: false, told: rows.map(([mover, arrow]) => taken(mover, arrow)).join("; "), arrows };
  }

  groups(joint) {
    const every = this.game.events(this.ids.length);
    return ["run", ...this.ids].map((who) => {
      const able = (event) => this.send(joint, `${who}.${event}`);
      const events = every.filter(([one]) => one === who).map(([, event]) => event);
      const own = events.map((event) => [`${who}.${event}`, event, !able(event).refused]);
      const now = who === "run" ? joint.run : joint.calls[this.ids.indexOf(who)];
      const decided = who === "run" ? [] : decisions(now, able);
      return { title: who, now, moves: own, decided: decided.map(([event, words]) => [`${who}.${event}`, words]) };
    });
  }

  cells = (joint) => [...joint.calls, joint.run];
  lit = (joint) => [
    [this.game.run.chart, joint.run, ""],
    ...joint.calls.map((state, at) => [this.game.call.chart, state, this.ids[at]]),
  ];
  notes = () => "";
}

/* All that charts do together, as runlock.diagrams.charts.playable_joint lists it; only what can happen has a button. */
class Explored {
  constructor(joint) {
    this.joint = joint;
    this.heads = joint.subjects.map(([who]) => who);
    this.charts = joint.subjects.map(([, chart]) => chart).filter(Boolean);
    this.start = 0;
    this.opening = "it begins";
    this.facts = [];
    this.hint = HINT_EXPLORED;
  }

  look = (at) => this.joint.looks[this.joint.states[at][0]];
  cells = (at) => this.look(at).slice(0, -1);
  notes = (at) => this.look(at).at(-1);
  lit = (at) => this.joint.subjects.map(([, chart], number) => [chart, this.cells(at)[number], ""]);

  moves(at) {
    const row = this.joint.states[at];
    const length = (row.length - 1) / 2;
    return Array.from({ length }, (_, number) => [this.joint.words[row[2 * number + 1]], row[2 * number + 2]]);
  }

  send(at, move) {
    const found = this.moves(at).find(([[token]]) => token === move);
    if (!found) return { at, refused: true, told: `This does not happen here: ${move.replaceAll("_", " ")}`, arrows: [] };
    const [[, what, , clauses], to] = found;
    if (!clauses) return { at: to, refused: false, told: what, arrows: [] }; // a crash takes no transition of a chart
    return { at: to, refused: false, told: `${what} (${clauses})`, arrows: this.arrows(at, to) };
  }

  arrows(from, to) {
    const [before, after] = [this.cells(from), this.cells(to)];
    const moved = this.joint.subjects.map(([, chart], at) => [chart, { from: before[at], to: after[at] }]);
    return moved.filter(([chart, arrow]) => chart && arrow.from !== arrow.to);
  }

  groups(at) {
    const every = this.moves(at).map(([word]) => word);
    const named = this.cells(at).flatMap((state) => Object.entries(DECIDED_JOINTLY[state] ?? {}));
    const decided = named.filter(([token]) => every.some(([one]) => one === token));
    const groups = Object.keys(WHO).map((who) => {
      const own = every.filter((word) => word[2] === who).map(([token, what]) => [token, what, true]);
      return { title: WHO[who], now: null, moves: own, decided: who === "world" ? decided : [] };
    });
    return groups.filter(({ moves }) => moves.length);
  }
}

/* The start and, for each move, the step that it makes; a refused one stays where it was. */
function replay(machine, moves) {
  const steps = [{ at: machine.start, refused: false, told: machine.opening, arrows: [] }];
  for (const move of moves) steps.push(machine.send(steps.at(-1).at, move));
  return steps;
}

const movesIn = (text) => (text ? text.split("-").filter(Boolean) : []);
const inAddress = (moves) => moves.join("-");

/* What can be chosen: titles with entries, each of them words and what the address then holds. */
function choices(data) {
  const place = (family, chart) => (family === "lifecycle" ? { chart } : { family, chart });
  const own = (name, charts) => [name, Object.keys(charts).map((chart) => [chart, place(name, chart)])];
  const together = [
    ["a run and its calls", {}],
    ["a run, its gate, its store and a crash", { joint: "lifecycle" }],
    ["a tool runner, its response and its user", { joint: "tool-runner" }],
    ["a message loop, its approvals and a cancel", { joint: "message-loop" }],
  ];
  const families = Object.entries(data.families).map(([name, { charts }]) => own(name, charts));
  return [["together", together], own("lifecycle", data.charts), ...families];
}

const WAITS = "the_model_is_asked-the_model_asks_for_the_calls-is_held-the_round_is_over-the_wait_is_made_durable-the_run_waits";
const WAKES = "is_decided_resume-decisions_arrive-the_decisions_are_made_known-the_decided_calls_resume-its_tool_is_entered";
const YIELDS = "a_request_is_sent-the_model_answers_with_tool_use-the_turn_is_yielded";
const DROPS = "the_user_asks_for_a_response-succeeds-the_response_is_made-the_user_pushes_a_message";

const PROMPTS = "the_input_is_taken-the_request_is_composed-the_request_is_sent-the_model_asks_for_the_calls" +
  "-is_judged_and_its_tool_is_not_on_the_list-is_put_to_the_interactors";
const DENIES = "is_allowed_once-is_denied_by_its_guard-the_results_are_appended_and_the_pass_continues";

const PRESETS = [
  ["approve, then crash", `joint=lifecycle&moves=${WAITS}-${WAKES}-the_runtime_crashes_and_recovers`,
    "An approved call was executing when the runtime crashed. The store has the run from before the approval, so the call waits again."],
  ["reject one of two", "profile=awaken-8&calls=2&moves=c1.suspend-c2.suspend-c1.cancel-c2.resume-c2.start-c2.succeed",
    "Two calls wait. Each decision moves the call that it names: the rejected one is over, the approved one executes."],
  ["cancel while waiting", "profile=awaken-8&calls=2&moves=c1.suspend-c2.suspend-run.cancelled",
    "A cancel ends a run that waits, and every call of it that is not over."],
  ["run what was rejected", "profile=awaken-8&calls=1&moves=c1.suspend-c1.cancel-c1.start",
    "A call that was rejected is over, and nothing starts it: the last move is refused, and the clause says why."],
  ["tool runner: drop a response", `joint=tool-runner&moves=${YIELDS}-${DROPS}`,
    "The response to the tool calls was made. Then the user adds a message, and the response is dropped."],
  ["message loop: allow, then deny", `joint=message-loop&moves=${PROMPTS}-${DENIES}`,
    "A person allows the call, and its guard denies it after that. The call does not execute."],
  ["message loop: allow, then rewrite", "family=message-loop&chart=ModeAuthority&moves=judge-ask-allow-rewritten",
    "The call is changed after it was allowed, so it is judged again: an approval is for what was shown."],
];
/* Words, the address that plays them, and what they teach. */
