/* The page that plays: what is chosen and every move of it stand in the address, and are shown from there. */
"use strict";

function clauseLink(data, id) {
  const page = `${id.split("-")[0].toLowerCase()}.html#${id.toLowerCase()}`;
  return make("a", { href: `${data.root}clauses/${page}`, title: data.clauses[id] ?? id }, id);
}

function linked(data, words) {
  return words.split(/\b([A-Z]+-\d+)\b/).map((part) => (data.clauses[part] ? clauseLink(data, part) : part));
}

const status = (name) => make("span", { class: `status ${name.toLowerCase() || "none"}` }, name || "–");

const button = (key, words, act, looks = "able") =>
  make("button", { type: "button", class: looks, "data-key": key, onclick: act }, words);

const own = (map, key) => (Object.hasOwn(map, key) ? map[key] : undefined);

const said = () => make("p", { class: "said", role: "status", "aria-live": "polite" });

const problem = (words) => make("p", { class: "refused", role: "alert" }, words);

/* What is done to a part of the page leaves the focus where it was, or next to it. */
function kept(place, act) {
  const { key } = place.contains(document.activeElement) ? document.activeElement.dataset : {};
  act();
  if (!key || place.contains(document.activeElement)) return;
  const same = place.querySelector(`[data-key="${CSS.escape(key)}"]`);
  (same ?? place.querySelector(".panel button"))?.focus({ preventScroll: true });
}

function show(place, data) {
  const presets = PRESETS.map(([words, hash, lesson]) => make("a", { href: `#${hash}`, title: lesson }, words));
  const body = make("div");
  place.replaceChildren(make("p", { class: "presets" }, "Try: ", ...presets.flatMap((one) => [one, " "])), body);
  const go = (wish) => {
    history.pushState(null, "", `#${new URLSearchParams(wish)}`);
    render();
  };
  const render = async () => {
    const { hash } = location;
    const wish = new URLSearchParams(hash.slice(1));
    const { whole, fill } = await playing(data, wish).catch((error) => ({ whole: problem(wrong(error)), fill() {} }));
    if (hash !== location.hash) return;
    kept(body, () => {
      body.replaceChildren(...lesson(hash), chooser(data, wish, go), whole);
      fill();
    });
  };
  addEventListener("hashchange", render);
  place.addEventListener("keydown", (event) => pressed(place, event));
  render();
}

/* What the example that is played teaches. */
function lesson(hash) {
  const played = PRESETS.find(([, preset]) => hash.startsWith(`#${preset}`));
  return played ? [make("p", { class: "lesson" }, make("b", {}, "What this shows: "), played[2])] : [];
}

const wrong = (error) =>
  /^(Line|Nothing)/.test(error.message)
    ? error.message
    : "The address holds no trace that can be read; it may have been cut off on its way here.";

async function playing(data, wish) {
  if (wish.has("runtime")) return ofRuntime(data, wish);
  if (wish.has("trace")) return trace(await unpacked(wish.get("trace")), data, wish, wish.get("because"));
  const joint = await jointOf(data, wish.get("joint"));
  if (joint) return player(new Explored(joint), own(data.families, joint.family) ?? data, wish);
  const family = own(data.families, wish.get("family")) ?? data;
  const chart = own(family.charts, wish.get("chart"));
  if (chart) return player(new Alone(chart), family, wish);
  const [profile, calls] = joining(data, wish);
  return player(new Joined(data, profile, calls), data, wish);
}

/* What a runtime of the matrix did when it broke a clause. */
async function ofRuntime(data, wish) {
  const name = wish.get("runtime").replace(/[^\w-]/g, "");
  await loaded(`assets/traces/${name}.js`);
  const found = own(own(globalThis.TRACES, name), wish.get("clause"));
  const { whole, fill } = trace(await unpacked(found.trace), data, wish, found.because);
  whole.prepend(make("p", { class: "lesson" }, make("b", {}, "What this shows: "), `what ${found.title} did.`));
  return { whole, fill };
}

/* The joint states of a family, if there are some. */
async function jointOf(data, name) {
  if (name !== "lifecycle" && !own(data.families, name)) return undefined;
  await loaded(`assets/joints/${name}.js`);
  return own(globalThis.JOINTS ?? {}, name);
}

function joining(data, wish) {
  const profile = own(data.profiles, wish.get("profile")) ? wish.get("profile") : "awaken-8";
  return [profile, Math.min(Math.max(Number(wish.get("calls")) || 2, 1), 4)];
}

/* ------------------------------------------------------------------------------------------------------------ */

function select(key, groups, now, then) {
  const entry = (words) => make("option", { value: words, selected: words === now }, words);
  const parts = groups.flatMap(([title, words]) => {
    const entries = words.map(entry);
    return title ? [make("optgroup", { label: title }, ...entries)] : entries;
  });
  const chosen = (event) => then(event.target.value);
  return make("label", {}, `${key} `, make("select", { "data-key": key, onchange: chosen }, ...parts));
}

const isChosen = (wish, entry) => ["joint", "family", "chart"].every((key) => (wish.get(key) ?? undefined) === entry[key]);

function chooser(data, wish, go) {
  const listed = choices(data).map(([title, some]) => [title, some.map(([words, entry]) => [titled(title, words), entry])]);
  const entries = listed.flatMap(([, some]) => some);
  const chosen = (entries.find(([, entry]) => isChosen(wish, entry)) ?? entries[0])[0];
  const isTrace = wish.has("trace") || wish.has("runtime");
  const now = isTrace ? "a trace" : chosen;
  const names = listed.map(([title, some]) => [title, some.map(([words]) => words)]);
  const every = isTrace ? [...names, ["", [now]]] : names;
  const what = select("play", every, now, (words) => go(Object.fromEntries(entries)[words] ?? {}));
  const further = now === entries[0][0] ? joinings(data, wish, go) : [];
  const still = (event) => event.preventDefault();
  return make("form", { class: "choose", onsubmit: still }, what, ...further, opener(go));
}

function joinings(data, wish, go) {
  const [profile, calls] = joining(data, wish);
  return [
    select("profile", [["", Object.keys(data.profiles)]], profile, (one) => go({ profile: one, calls })),
    select("calls", [["", ["1", "2", "3", "4"]]], String(calls), (one) => go({ profile, calls: one })),
  ];
}

function opener(go) {
  const onchange = async (event) => go({ trace: await packed(await event.target.files[0].text()) });
  const input = make("input", { type: "file", accept: ".jsonl", "data-key": "file", onchange });
  return make("label", {}, "or open a trace ", input);
}

/* Two families may have a chart of the same name. */
const titled = (title, words) => (["together", "lifecycle"].includes(title) ? words : `${title}: ${words}`);

/* A table with a line for each moment; the last one that is shown is in view. */
function ledger(data, heads) {
  const body = make("tbody");
  const head = make("tr", {}, ...["t", ...heads, "what happened"].map((name) => make("th", { scope: "col" }, name)));
  const frame = make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "timeline" });
  frame.append(make("table", { class: "ledger" }, make("thead", {}, head), body));
  const cell = (...inner) => make("td", {}, ...inner);
  const row = ([cells, words, looks], at) =>
    make("tr", { class: looks }, cell(String(at)), ...cells.map((one) => cell(status(one))), cell(...linked(data, words)));
  const fill = (rows) => {
    body.replaceChildren(...rows.map(row));
    frame.scrollTop = frame.scrollHeight;
  };
  return { frame, fill };
}

/* The name of an event in words; what is a sentence already stays as it is. */
const spoken = (words) => (/^\w+$/.test(words) ? words.replaceAll("_", " ") : words);

function group(data, { title, now, moves, decided }, send) {
  const one = (words, move, looks) => button(`${title} ${words}`, spoken(words), () => send(move), looks);
  const decisions = decided.map(([move, words]) => one(words, move, `decide ${words.toLowerCase()}`));
  const each = moves.map(([move, words, able]) => one(words, move, able ? "able" : "unable"));
  const legend = make("legend", {}, `${title} `, ...(now === null ? [] : [status(now)]));
  return make("fieldset", {}, legend, make("div", {}, ...decisions), ...each);
}

function stands(machine, at) {
  const parts = machine.cells(at).flatMap((cell, number) => [`${machine.heads[number]} `, status(cell), " "]);
  return make("p", { class: "stands" }, ...parts, make("br"), machine.notes(at));
}

/* Tab comes to the buttons before the many links of a picture, which stands first. */
function layout(pictures, ...side) {
  const looks = pictures.whole.hidden ? "desk bare" : "desk";
  return make("div", { class: looks }, make("div", { class: "side" }, ...side), pictures.whole);
}

/* Everything is shown from the moves: one is added, or the last one taken away. */
function player(machine, data, wish) {
  const pictures = new Pictures(data.root, machine.charts);
  const rows = ledger(data, machine.heads);
  const words = said();
  const panel = make("div", { class: "panel" });
  let moves = movesIn(wish.get("moves"));
  const facts = new Set(moves.at(-1)?.split("*").slice(1));
  const send = (move) => put([...moves, move]);
  const undo = button("undo", "undo", () => put(moves.slice(0, -1)));
  const again = button("begin again", "begin again", () => put([]));
  const whole = make("div", {}, layout(pictures, panel, words, make("div", { class: "panel" }, undo, again)), rows.frame);
  const put = (now) => {
    moves = now;
    if (moves.length) wish.set("moves", inAddress(moves));
    else wish.delete("moves");
    history.replaceState(null, "", `#${wish}`);
    kept(whole, fill);
  };
  const fill = () => {
    const steps = replay(machine, moves);
    const last = steps.at(-1);
    const held = machine.facts.length ? [factBoxes(machine, facts, () => kept(whole, fill))] : [];
    const stood = machine instanceof Explored ? [stands(machine, last.at)] : [];
    panel.replaceChildren(...stood, ...machine.groups(last.at, facts).map((one) => group(data, one, send)), ...held);
    words.replaceChildren(...linked(data, moves.length ? last.told : machine.hint));
    words.classList.toggle("refused", last.refused);
    rows.fill(steps.map((one) => [machine.cells(one.at), one.told, one.refused ? "refused" : ""]));
    pictures.light(machine.lit(last.at), last.arrows);
    for (const one of [undo, again]) one.setAttribute("aria-disabled", String(!moves.length));
  };
  return { whole, fill };
}

function factBoxes(machine, facts, then) {
  const boxes = machine.facts.map((name) => {
    const turn = (event) => {
      if (event.target.checked) facts.add(name);
      else facts.delete(name);
      then();
    };
    const looks = { type: "checkbox", "data-key": `fact ${name}`, checked: facts.has(name), onchange: turn };
    return make("label", {}, make("input", looks), ` ${name}`);
  });
  return make("fieldset", {}, make("legend", {}, "facts that hold"), ...boxes);
}

/* One step after the other; its verdict stands above from the start. */
function trace(text, data, wish, reason) {
  const { moments: every, verdict, family, charts } = traceIn(text, data);
  const because = reason || verdict;
  const ids = unique(every.flatMap((moment) => Object.keys(moment.calls)));
  const pictures = new Pictures(family.root, Object.values(charts));
  const rows = ledger(family, [...ids, "run"]);
  const words = said();
  let at = Math.min(Number(wish.get("at")) || 0, every.length);
  const put = (now) => {
    at = Math.min(Math.max(now, 0), every.length);
    wish.set("at", at);
    history.replaceState(null, "", `#${wish}`);
    fill();
  };
  const forth = button("next step", "next step", () => put(at + 1));
  const back = button("step back", "step back", () => put(at - 1));
  const end = button("end", because ? "where it broke" : "the end", () => put(every.length));
  const fill = () => {
    const { lines, said: told, isBroken } = upTo(every, ids, because, at);
    rows.fill(lines);
    words.replaceChildren(told);
    pictures.light(at ? lit(every[at - 1], charts) : [], [], isBroken);
    for (const one of [forth, end]) one.setAttribute("aria-disabled", String(at === every.length));
    back.setAttribute("aria-disabled", String(!at));
  };
  const steps = make("div", { class: "panel" }, forth, back, end);
  const whole = make("div", { class: "trace" }, layout(pictures, ruling(family, because), steps, words), rows.frame);
  return { whole, fill };
}

function ruling(family, because) {
  const command = make("code", {}, "runlock check trace:FILE");
  if (!because) return make("p", { class: "ruling" }, "This trace holds no verdict; ", command, " gives one.");
  const [, clause, rest] = because.match(/^([A-Z]+-\d+)(: .*)$/s) ?? [];
  const words = clause ? [clauseLink(family, clause), ...linked(family, rest)] : linked(family, because);
  return make("p", { class: "ruling refused" }, "Broken: ", ...words);
}

function lit(moment, { call, run }) {
  return [[run, moment.run, ""], ...Object.entries(moment.calls).map(([id, state]) => [call, state, id])];
}

/* Keys that work while the focus is in the playground. */
function pressed(place, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
  const named = { u: "undo", b: "begin again" }[event.key];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (named) place.querySelector(`[data-key="${named}"]`)?.click();
  if (!step || !event.target.matches("button")) return;
  event.preventDefault();
  if (place.querySelector(".trace")) place.querySelector(`[data-key="${step > 0 ? "next step" : "step back"}"]`).click();
  else next(place, event.target, step);
}

function next(place, from, step) {
  const every = [...place.querySelectorAll(".side button")];
  every.at((every.indexOf(from) + step) % every.length)?.focus();
}

if (typeof document !== "undefined" && document.getElementById("play")) show(document.getElementById("play"), globalThis.RUNLOCK);
