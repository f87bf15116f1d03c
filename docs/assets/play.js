/* Plays charts in the page, and traces step by step.  Above the line: what moves, and why not, by the charts
   that charts.js holds; it is compared with the Python charts on every path up to a bound.  Below: the page. */
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

/* A trace as moments, one for each stimulus: what was done, what was seen, and where everything then stands. */
function moments(text, data) {
  const found = [];
  const stands = { run: "", calls: {}, gates: {} };
  for (const [number, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    const record = parsed(line, number + 1);
    if (record.stimulus?.method === "recover") continue;
    if (record.stimulus || record.crash) {
      found.push({ did: record.crash ? "crash and recover" : told(record.stimulus, stands), saw: [], odd: [], run: "", calls: {} });
    }
    const now = found.at(-1);
    if (!now) continue;
    if (record.stimulus) stimulate(record.stimulus, stands);
    if (record.observation) observe(record.observation, stands, now, data);
    for (const one of record.report?.refused ?? []) now.saw.push(`refused: ${one.why}`);
    Object.assign(now, { run: stands.run, calls: { ...stands.calls } });
  }
  if (!found.length) throw new Error("Nothing happens in this trace; one that can be played holds a stimulus.");
  return found;
}

function parsed(line, number) {
  try {
    const record = JSON.parse(line);
    if (record && typeof record === "object" && !Array.isArray(record)) return record;
  } catch {
    /* said below */
  }
  throw new Error(`Line ${number} is no record of a trace; each line of one is a JSON object with one key.`);
}

function told({ method, params }, stands) {
  const decisions = (list) => list.map((one) => `${one.call} ${one.action} (${one.id})`).join(", ");
  if (method === "run.start") return `start ${params.run} ${JSON.stringify(params.input ?? "")}`;
  if (method === "decide") return `decide ${decisions(params.decisions)}`;
  if (method === "deliver") return `race: ${params.stimuli.map((one) => told(one, stands)).join(" | ")}`;
  if (method === "clock.advance") return `${params.ms} ms pass`;
  if (method !== "gate.release") return `${method} ${params.run ?? ""}`.trim();
  const gate = stands.gates[params.gate] ?? { on: params.gate };
  const outcome = params.outcome;
  if (gate.on === "model" && outcome.kind === "turn") {
    const calls = (outcome.tool_calls ?? []).map((call) => `${call.id} ${call.name}`);
    return calls.length ? `model asks ${calls.join(", ")}` : `model ends ${JSON.stringify(outcome.text ?? "")}`;
  }
  return `${gate.on}${gate.call ? ` ${gate.call}` : ""} answers ${outcome.kind}`;
}

/* What follows from gates alone; a status that is shown replaces it. */
function stimulate({ method, params }, stands) {
  if (method === "deliver") params.stimuli.forEach((one) => stimulate(one, stands));
  if (method === "run.start") Object.assign(stands, { run: "Running" });
  if (method !== "gate.release") return;
  const gate = stands.gates[params.gate];
  for (const call of params.outcome.tool_calls ?? []) if (gate?.on === "model") stands.calls[call.id] = "New";
  const after = { ok: "Succeeded", warning: "Succeeded", error: "Failed", raise: "Failed", pending: "Suspended" };
  if (gate?.on === "tool" && after[params.outcome.kind]) stands.calls[gate.call] = after[params.outcome.kind];
}

function observe(seen, stands, now, data) {
  if (seen.kind === "gate.open") {
    stands.gates[seen.gate] = { on: seen.on, call: seen.call };
    if (seen.on === "tool") stands.calls[seen.call] = "Running";
    now.saw.push({ model: "the model is asked", tool: `tool ${seen.call} is entered` }[seen.on] ?? `${seen.on} is asked`);
  } else if (seen.kind === "call.status") {
    check(data?.charts.ToolCall, `call ${seen.call}`, seen, now);
    stands.calls[seen.call] = seen.to;
    now.saw.push(`${seen.call} is ${seen.to}`);
  } else if (seen.kind === "run.status") {
    check(data?.charts.RunWithCreated, "the run", seen, now);
    stands.run = seen.to;
    now.saw.push(`the run is ${seen.to}`);
  } else if (seen.kind === "run.finished") {
    for (const call of seen.pending ?? []) stands.calls[call] = "Suspended";
    stands.run = seen.reason.code === "Suspended" ? "Waiting" : "Done";
    now.saw.push(`the segment ends: ${seen.reason.code}`);
  }
}

/* A move that the chart does not draw is odd, whatever the rest of the trace says. */
function check(chart, who, seen, now) {
  if (!chart || !seen.from || seen.from === seen.to) return;
  const drawn = chart.arrows.some((arrow) => arrow.from === seen.from && arrow.to === seen.to);
  const clause = stateOf(chart, seen.from)?.closed;
  if (!drawn) now.odd.push(`${who} went from ${seen.from} to ${seen.to}, which no arrow of ${chart.chart} does (${clause})`);
}

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

if (typeof module !== "undefined") module.exports = { Game, eventsOf, factsOf, moments, packed, react, unpacked };

/* ------------------------------------------------------------------------------------------------------------ */

function make(tag, facts = {}, ...inner) {
  const made = document.createElement(tag);
  for (const [name, fact] of Object.entries(facts)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), fact);
    else if (fact !== false && fact !== undefined) made.setAttribute(name, fact === true ? "" : fact);
  }
  made.append(...inner);
  return made;
}

const clauseLink = (data, id) =>
  make("a", { href: `${data.root}clauses/${id.split("-")[0].toLowerCase()}.html#${id.toLowerCase()}`, title: data.clauses[id] ?? id }, id);

function linked(data, words) {
  return words.split(/\b([A-Z]+-\d+)\b/).map((part) => (data.clauses[part] ? clauseLink(data, part) : part));
}

const status = (name) => make("span", { class: `status ${name.toLowerCase() || "none"}` }, name || "–");

function show(place, data) {
  let wish;
  const put = (...parts) => place.replaceChildren(chooser(data, wish, go), ...parts);
  const go = (choice) => {
    history.replaceState(null, "", `#${new URLSearchParams(choice)}`);
    render();
  };
  const render = () => {
    wish = new URLSearchParams(location.hash.slice(1));
    if (wish.has("trace")) {
      unpacked(wish.get("trace"))
        .then((text) => put(trace(text, data, wish.get("because"))))
        .catch((error) => put(problem(wrong(error))));
      return;
    }
    const family = data.families[wish.get("family")] ?? data;
    const chart = family.charts[wish.get("chart")];
    if (chart) put(alone(chart, family));
    else put(together(data, wish));
  };
  addEventListener("hashchange", render);
  render();
}

const wrong = (error) =>
  error.message?.startsWith("Line") || error.message?.startsWith("Nothing")
    ? error.message
    : "The address holds no trace that can be read; it may have been cut off on its way here.";

const problem = (words) => make("p", { class: "refused", role: "alert" }, words);

function chooser(data, wish, go) {
  const profile = wish.get("profile") ?? "awaken-8";
  const calls = wish.get("calls") ?? "2";
  const select = (label, values, now, then) => {
    const options = values.map((value) => make("option", { value, selected: value === now }, value));
    return make("label", {}, `${label} `, make("select", { onchange: (event) => then(event.target.value) }, ...options));
  };
  const named = [wish.get("family"), wish.get("chart")].filter(Boolean).join(": ");
  const mode = wish.has("trace") ? "a trace" : named || "a run and its calls";
  const further = Object.entries(data.families).flatMap(([name, { charts }]) => Object.keys(charts).map((one) => `${name}: ${one}`));
  const modes = ["a run and its calls", ...Object.keys(data.charts), ...further, ...(wish.has("trace") ? ["a trace"] : [])];
  const file = make("input", {
    type: "file",
    accept: ".jsonl",
    onchange: async (event) => go({ trace: await packed(await event.target.files[0].text()) }),
  });
  const joined = [
    select("profile", Object.keys(data.profiles), profile, (value) => go({ profile: value, calls })),
    select("calls", ["1", "2", "3", "4"], calls, (value) => go({ profile, calls: value })),
  ];
  return make(
    "form",
    { class: "choose", onsubmit: (event) => event.preventDefault() },
    select("play", modes, mode, (value) => go(choice(data, value))),
    ...(mode === "a run and its calls" ? joined : []),
    make("label", {}, "or open a trace ", file),
  );
}

/* What is played under a name of the list: a chart, a chart of a further family, or neither. */
function choice(data, value) {
  const [family, chart] = value.split(": ");
  if (data.families[family]) return { family, chart };
  return data.charts[value] ? { chart: value } : {};
}

/* A table that grows, with a line for each moment. */
function ledger(data, heads) {
  const body = make("tbody");
  const head = make("tr", {}, ...["t", ...heads, "what happened"].map((name) => make("th", { scope: "col" }, name)));
  const frame = make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "timeline" });
  frame.append(make("table", { class: "ledger" }, make("thead", {}, head), body));
  const add = (cells, words, looks = "") => {
    const number = make("td", {}, String(body.children.length));
    body.append(make("tr", { class: looks }, number, ...cells.map((one) => make("td", {}, status(one))), make("td", {}, ...linked(data, words))));
    frame.scrollTop = frame.scrollHeight;
  };
  return { frame, add, drop: () => body.lastChild?.remove(), clear: () => body.replaceChildren() };
}

const said = () => make("p", { class: "said", role: "status", "aria-live": "polite" });

function buttons(data, groups, send, would) {
  return groups.map(([title, now, events]) => {
    const each = events.map((event) =>
      make("button", { type: "button", class: would(title, event) ? "able" : "unable", onclick: () => send(title, event) }, event),
    );
    return make("fieldset", {}, make("legend", {}, `${title} `, status(now)), ...each);
  });
}

function together(data, wish) {
  const name = data.profiles[wish.get("profile")] ? wish.get("profile") : "awaken-8";
  const calls = Math.min(Math.max(Number(wish.get("calls")) || 2, 1), 4);
  const game = new Game(data, name);
  const ids = Array.from({ length: calls }, (_, at) => `c${at + 1}`);
  const rows = ledger(data, [...ids, "run"]);
  const words = said();
  const panel = make("div", { class: "panel" });
  let joint = game.begin(calls);
  const show = () => {
    const groups = [["run", joint.run], ...ids.map((id, at) => [id, joint.calls[at]])];
    const events = (who) => game.events(calls).filter((one) => one[0] === who).map((one) => one[1]);
    const able = (who, event) => !game.play(joint, who, event).refused;
    panel.replaceChildren(...buttons(data, groups.map(([who, now]) => [who, now, events(who)]), send, able));
  };
  const send = (who, event) => {
    const played = game.play(joint, who, event);
    words.replaceChildren(...linked(data, played.refused || took(played.rows)));
    words.className = played.refused ? "said refused" : "said";
    const told = played.refused ? `${who} ${event} is refused: ${played.refused}` : took(played.rows);
    joint = played.joint;
    rows.add([...joint.calls, joint.run], told, played.refused ? "refused" : "");
    const at = [...panel.querySelectorAll("button")].indexOf(document.activeElement);
    show();
    panel.querySelectorAll("button")[at]?.focus();
  };
  const again = () => {
    joint = game.begin(calls);
    rows.clear();
    rows.add([...joint.calls, joint.run], `the model asks for ${ids.join(", ")}`);
    words.replaceChildren("Send an event. One that is pale will be refused, and it is said why.");
    words.className = "said";
    show();
  };
  again();
  return make("div", {}, panel, words, make("button", { type: "button", class: "again", onclick: again }, "begin again"), rows.frame);
}

const took = (rows) => rows.map(([who, arrow]) => `${who}: ${arrow.on} to ${arrow.to}, ${arrow.when} (${arrow.clause})`).join("; ");

function alone(chart, data) {
  const rows = ledger(data, ["state"]);
  const words = said();
  const panel = make("div", { class: "panel" });
  const picture = make("div", { class: "scrolls picture", tabindex: "0", role: "group", "aria-label": `The chart ${chart.chart}` });
  drawn(data.root, chart.chart).then((svg) => svg && picture.append(svg)).then(() => light());
  const facts = new Set();
  let state = chart.initial;
  const light = (arrow) => {
    for (const one of picture.querySelectorAll(".here, .taken")) one.classList.remove("here", "taken");
    picture.querySelector(`[id="${chart.chart}-${state}"]`)?.classList.add("here");
    if (arrow) picture.querySelector(`[id="${chart.chart}-${arrow.from}-${arrow.to}"]`)?.classList.add("taken");
  };
  const show = () => {
    const able = (_, event) => !react(chart, state, event, [...facts]).refused;
    const boxes = factsOf(chart).map((name) => {
      const turn = (event) => (event.target.checked ? facts.add(name) : facts.delete(name), show());
      return make("label", {}, make("input", { type: "checkbox", checked: facts.has(name), onchange: turn }), ` ${name}`);
    });
    const held = boxes.length ? [make("fieldset", {}, make("legend", {}, "facts that hold"), ...boxes)] : [];
    panel.replaceChildren(...buttons(data, [[chart.subject, state, eventsOf(chart)]], send, able), ...held);
  };
  const send = (_, event) => {
    const answer = react(chart, state, event, [...facts]);
    const told = answer.refused ?? took([[chart.subject, answer.arrow]]);
    words.replaceChildren(...linked(data, told));
    words.className = answer.refused ? "said refused" : "said";
    state = answer.arrow?.to ?? state;
    rows.add([state], told, answer.refused ? "refused" : "");
    light(answer.arrow);
    const at = [...panel.querySelectorAll("button")].indexOf(document.activeElement);
    show();
    panel.querySelectorAll("button")[at]?.focus();
  };
  const again = () => {
    state = chart.initial;
    rows.clear();
    rows.add([state], "it begins");
    words.replaceChildren("Send an event. One that is pale will be refused, and it is said why.");
    light();
    show();
  };
  again();
  return make("div", {}, picture, panel, words, make("button", { type: "button", class: "again", onclick: again }, "begin again"), rows.frame);
}

/* The picture of a chart comes as a script, which a page can load from a folder too; without it, the rest plays on. */
function drawn(root, name) {
  const ready = (done) => {
    const text = globalThis.PICTURES?.[`${root}${name}`];
    if (!text) return done(null);
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    for (const link of svg.querySelectorAll("a")) link.setAttribute("href", link.getAttribute("href").replace("../", root));
    return done(document.importNode(svg, true));
  };
  return new Promise((done) => {
    const script = make("script", { src: `assets/pictures/${root}${name}.js`, onload: () => ready(done), onerror: () => ready(done) });
    document.head.append(script);
  });
}

function trace(text, data, because) {
  const every = moments(text, data);
  const ids = unique(every.flatMap((moment) => Object.keys(moment.calls)));
  const rows = ledger(data, [...ids, "run"]);
  const words = said();
  let at = 0;
  const on = () => {
    if (at >= every.length) return;
    const moment = every[at];
    const odd = moment.odd.length ? ` — ${moment.odd.join("; ")}` : "";
    rows.add([...ids.map((id) => moment.calls[id] ?? ""), moment.run], [moment.did, ...moment.saw].join(", ") + odd, odd ? "refused" : "");
    at += 1;
    tell();
  };
  const back = () => {
    if (at <= 0) return;
    at -= 1;
    rows.drop();
    tell();
  };
  const tell = () => {
    const next = every[at];
    const end = because ? linked(data, because) : ["All steps were played."];
    words.replaceChildren(...(next ? [`Step ${at} of ${every.length}. Next: ${next.did}`] : end));
    words.className = next || !because ? "said" : "said refused";
    forth.disabled = !next;
    backwards.disabled = !at;
  };
  const forth = make("button", { type: "button", class: "able", onclick: on }, "next step");
  const backwards = make("button", { type: "button", class: "able", onclick: back }, "step back");
  const keys = (event) => (event.key === "ArrowRight" ? on() : event.key === "ArrowLeft" ? back() : undefined);
  tell();
  return make("div", { onkeydown: keys }, make("div", { class: "panel" }, forth, backwards), words, rows.frame);
}

if (typeof document !== "undefined") {
  const place = document.getElementById("play");
  if (place) show(place, globalThis.RUNLOCK);
}
