// The hosted interface of the Runlock protocol for JavaScript: an adapter awaits the host where its runtime
// would await the world, and this file does the rest, which is gates, quiescence, the clock and the pipe.
//
//     import { serve, Refused } from "./runlock.mjs";
//     serve(() => new Adapter());
//
// It needs Node 20 or newer and nothing else.  The runtime is let run until only the kit can move it on:
// until no promise, immediate or timer that is due is left, and nothing is under way that keeps Node alive.
// `setTimeout`, `setInterval`, `Date` and `performance.now` stand on a clock that the kit moves.

import { AsyncLocalStorage } from "node:async_hooks";
import { Console } from "node:console";
import { readSync } from "node:fs";

/**
 * @typedef {{id: string, name: string, args: Record<string, unknown>}} ToolCall
 * @typedef {{role: string, text?: string, tool_calls?: ToolCall[], call?: string, status?: string}} Message
 * @typedef {{kind: "turn", text: string, tool_calls: ToolCall[], usage?: {input: number, output: number}}} Turn
 * @typedef {{kind: string, content?: unknown, message?: string | null}} Outcome
 * @typedef {{kind: "allow" | "block" | "suspend" | "set_result", content?: unknown}} Verdict
 * @typedef {{name?: string, args?: Record<string, unknown>}} Edit  what an approval puts in the place of what was asked
 * @typedef {{id: string, call: string, action: "resume" | "cancel", payload?: unknown, edit?: Edit,
 *   suspension?: number, scope?: "run" | "session"}} Decision
 * @typedef {{reason: string | {code: string}, pending?: string[]}} Segment  how a segment of a run ended
 * @typedef {{scenario: string, data: string | null, tools: {name: string, permission: string,
 *   resume_mode: string, abort?: "ignored", agent?: {tools: string[]}}[], agent: {stop: object[]}, hold: string[]}} Scenario
 * @typedef {{trigger: string, cause?: string, force?: boolean, state?: object}} Checkpoint
 *
 * @typedef {object} Adapter  what the author of a runtime writes; what is missing here is not declared
 * @property {object} handshake
 * @property {(host: Host, scenario: Scenario) => Promise<void> | void} open
 * @property {(input: string, decisions?: Decision[]) => Promise<Segment>} start
 * @property {(decisions: Decision[]) => Promise<Segment | void>} [decide]
 * @property {() => Promise<Segment | void>} [cancel]
 * @property {(input: string, decisions?: Decision[]) => Promise<Segment | void>} [input]
 * @property {() => Promise<object> | object} [checkpoint]  what would survive a crash now
 * @property {(host: Host, scenario: Scenario, state: object) => Promise<void>} [restore]  in the place of `open`
 * @property {(run: string) => Promise<Segment | void>} [resumeRun]  go on with a run that was Running
 * @property {(run: string) => object} [inspect]
 * @property {(tool: string) => void} [revoke]  the standing grants for a tool are revoked
 * @property {(watcher: string, stream: string) => void} [watch]
 * @property {() => void} [unwatch]
 * @property {() => boolean} [busy]  whether work is under way that Node does not see
 * @property {() => Promise<void> | void} [close]
 */

const UNSUPPORTED = -32001, ILLEGAL_STIMULUS = -32002, NO_SUCH_GATE = -32003, DID_NOT_SETTLE = -32004;
const SUT_CRASHED = -32005, PARSE_ERROR = -32700, METHOD_NOT_FOUND = -32601, INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const TURNS_MAX = 10_000;
const STIMULI = ["decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver"];
const NEEDS = {
  decide: "decide", cancel: "cancel", "cancel.waiting": "cancel", "run.input": "input", watch: "watch",
  "watch.request": "watch", "grant.revoke": "revoke",
};
const REFUSABLE = new Set(["decide", "input", "recover", "cancel"]);

// --- what the host throws, and what an adapter throws -------------------------------------------

/** The outside world broke: an error of the runtime's surroundings, not an answer. */
export class WorldFault extends Error {}
/** The tool's body threw: let it pass where the runtime would meet the tool's own error. */
export class ToolRaised extends Error {}
/** The runtime gave a gate up: its signal was aborted while it waited there. */
export class GivenUp extends Error {}

/** What a request gives; where its signal was aborted it fails with the signal's reason, as `fetch` does. */
export async function unlessAborted(signal, request) {
  try {
    return await request;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** The runtime turns a verb down, and nothing has changed; name the decision that is at fault, if it is known. */
export class Refused extends Error {
  /** @param {string} why @param {string} [decision] */
  constructor(why, decision) {
    super(why);
    this.decision = decision;
  }
}

/** An answer that is an error of the protocol. */
export class ProtocolError extends Error {
  constructor(code, message, data) {
    super(message);
    Object.assign(this, { code, data });
  }
}

// --- the clock ----------------------------------------------------------------------------------

const real = { setTimeout, setImmediate, clearImmediate, Date };

const YEAR_MS = 365 * 86_400_000;

/** Timers and the time of day, which stand still until the kit moves them. */
export class Clock {
  constructor() {
    this.now = this.horizon = 0;
    this.epoch = Number(process.env.RUNLOCK_START ?? 0) * YEAR_MS; // what was stored before a kill is older
    this.timers = new Map();
    this.immediates = new Set();
    this.numbers = 0;
  }

  /** Take the place of Node's own timers. */
  install() {
    const clock = this;
    globalThis.setTimeout = (work, ms = 0, ...about) => clock.add(work, ms, about);
    globalThis.setInterval = (work, ms = 0, ...about) => clock.add(work, ms, about, Math.max(1, ms));
    globalThis.clearTimeout = globalThis.clearInterval = (timer) => void clock.timers.delete(timer?.id ?? timer);
    globalThis.setImmediate = (work, ...about) => clock.soon(work, about);
    globalThis.clearImmediate = (one) => void (clock.immediates.delete(one), real.clearImmediate(one));
    globalThis.Date = class extends real.Date {
      constructor(...parts) {
        super(...(parts.length ? parts : [clock.epoch + clock.now]));
      }
      static now() {
        return clock.epoch + clock.now;
      }
    };
    performance.now = () => clock.now;
  }

  add(work, ms, about, again) {
    const wait = ms >= 1 ? ms : 0; // without a delay it is work for the next turn, and not for a later time
    const timer = { id: ++this.numbers, due: this.now + wait, work, about, again };
    timer.unref = timer.ref = () => timer;
    timer.hasRef = () => true;
    timer[Symbol.toPrimitive] = () => timer.id;
    this.timers.set(timer.id, timer);
    return timer;
  }

  soon(work, about) {
    const one = real.setImmediate(() => {
      this.immediates.delete(one);
      work(...about);
    });
    this.immediates.add(one);
    return one;
  }

  /** Call what falls due first, within the horizon; false if nothing does. */
  fire() {
    const due = [...this.timers.values()].filter((timer) => timer.due <= this.horizon);
    const [first] = due.sort((one, other) => one.due - other.due || one.id - other.id);
    if (!first) return (this.now = this.horizon), false;
    this.now = Math.max(this.now, first.due);
    if (first.again) first.due += first.again;
    else this.timers.delete(first.id);
    first.work(...first.about);
    return true;
  }

  /** Nothing that was to come does: the runtime crashed. */
  forget() {
    this.timers.clear();
    for (const one of this.immediates) real.clearImmediate(one);
    this.immediates.clear();
  }
}

// --- quiescence ---------------------------------------------------------------------------------

/** A turn of the event loop. */
export const turn = () => new Promise((next) => real.setImmediate(next));
const glance = () => new Promise((next) => real.setTimeout(next, 1)); // decides nothing but how soon it is seen

/** What keeps Node alive, counted by kind, without what waits for the kit. */
export function underWay() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== "Immediate") counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Whether an error is a mistake in the code, and never how a runtime fails or turns something down. */
const isSlip = (error) => [TypeError, ReferenceError, RangeError, SyntaxError].some((one) => error instanceof one);

/** The innermost line of the adapter or its runtime in the stack of an error. */
function placeOf(error) {
  const lines = String(error?.stack ?? "").match(/[^\s(]+:\d+:\d+/g) ?? [];
  return lines.find((line) => !/runlock\.mjs|node_modules|^node:/.test(line)) ?? "at its call";
}

const stray = []; // what was thrown where nobody awaits: the runtime crashed

/** Let the runtime run until only the kit can move it on. */
export async function settle(life) {
  for (let turns = 0; turns < TURNS_MAX; ) {
    await turn(); // every promise that can be settled is, before an immediate comes
    if (stray.length) throw stray.pop();
    if (life.worksOutside()) await glance();
    else if (life.clock.immediates.size || life.clock.fire()) turns++;
    else return;
  }
  throw new ProtocolError(DID_NOT_SETTLE, `the runtime was still busy after ${TURNS_MAX} turns`);
}

// --- what the kit counts ------------------------------------------------------------------------

/** What is counted and remembered for the run at hand; it survives a crash of the runtime. */
class Counts {
  constructor() {
    this.gates = 0;
    this.past = new Set();
    this.begin(null);
  }

  begin(run) {
    const before = { ...this };
    if (this.run) this.past = new Set([...this.past, this.run]);
    Object.assign(this, { run, status: run ? "Created" : null, step: 0, attempts: {}, suspensions: {} });
    Object.assign(this, { resumes: {}, pending: [] });
    return () => Object.assign(this, before, { gates: this.gates });
  }

  decided(decisions) {
    const before = this.resumes;
    const taken = decisions.filter((one) => this.pending.includes(one.call));
    const resumes = taken.map(({ id, call, action, payload = null }) => [call, { decision: id, action, payload }]);
    this.resumes = { ...before, ...Object.fromEntries(resumes) };
    return () => (this.resumes = before);
  }

  asked(calls) {
    for (const { id } of calls) {
      delete this.attempts[id];
      delete this.suspensions[id];
      delete this.resumes[id];
    }
  }

  ended(pending, code) {
    this.pending = pending;
    if (this.status !== "Done") this.status = code === "Suspended" ? "Waiting" : "Done";
    for (const call of pending) delete this.resumes[call];
  }

  recovered(run, state, asking) {
    this.run = run;
    this.step = Math.max(0, this.step - asking);
    if (!state) return;
    this.status = state.run?.status ?? this.status;
    this.step = state.run?.step ?? this.step;
    const calls = Object.entries(state.calls ?? {});
    this.pending = calls.filter(([, call]) => call.status === "Suspended").map(([id]) => id);
    this.suspensions = Object.fromEntries(calls.filter(([, c]) => c.suspension).map(([id, c]) => [id, c.suspension]));
    const kept = Object.entries(state.decisions ?? {});
    this.resumes = Object.fromEntries(
      kept.map(([call, { id, action, payload = null }]) => [call, { decision: id, action, payload }]),
    );
  }
}

// --- the host -----------------------------------------------------------------------------------

const current = new AsyncLocalStorage(); // the verb in which something happens

/** The outside world, in the kit's hands: whatever is awaited here waits at a gate. */
export class Host {
  #life;
  #counts;

  constructor(life, counts = life.counts) {
    this.#life = life;
    this.#counts = counts;
  }

  /** The run at hand, by the kit's name. */
  get run() {
    return this.#counts.run;
  }

  /**
   * The outside world of the run within a call: the same gates, under a run id of its own.
   * @param {string} call
   * @returns {Host}
   */
  within(call) {
    const counts = new Counts();
    counts.begin(`${this.run}/${call}`);
    return new Host(this.#life, counts);
  }

  /**
   * Ask the model.  An aborted signal gives the gate up.
   * @param {Message[]} messages
   * @param {{signal?: AbortSignal, step?: number, system?: string, params?: object,
   *   tools?: string[]}} [more]
   * @returns {Promise<Turn>}
   */
  async infer(messages, { signal, step, system, params, tools } = {}) {
    this.#counts.step = step ?? this.#counts.step + 1;
    const made = { ...(system && { system }), ...(params && { params }), ...(tools && { tools }) };
    return this.#pass("model", { messages, ...made }, { signal });
  }

  /**
   * Enter a tool's body.  An aborted signal gives it up, unless the tool ignores that.
   * @param {string} call @param {string} name @param {Record<string, unknown>} args
   * @param {{signal?: AbortSignal, step?: number, attempt?: number, resume?: object | null,
   *   activity?: (content: unknown) => void}} [more]
   * @returns {Promise<Outcome>}
   */
  async tool(call, name, args, { signal, step, attempt, resume, activity } = {}) {
    const { attempts } = this.#counts;
    attempts[call] = attempt ?? (attempts[call] ?? 0) + 1;
    const shown = { call, name, args, attempt: attempts[call], resume: this.#resume(call, resume) };
    const heeded = this.#life.ignoresAborts(name) ? undefined : signal;
    const outcome = await this.#pass("tool", shown, { signal: heeded, step, activity });
    if (outcome.kind === "raise") throw new ToolRaised(outcome.message ?? String(outcome.content ?? "the tool raised"));
    return outcome;
  }

  /**
   * Ask the permission hook.
   * @param {string} call @param {string} name @param {Record<string, unknown>} args
   * @param {{signal?: AbortSignal, step?: number, resume?: object | null}} [more]
   * @returns {Promise<Verdict>}
   */
  async permit(call, name, args, { signal, step, resume } = {}) {
    const shown = { call, name, args, resume: this.#resume(call, resume) };
    return this.#pass("permission", shown, { signal, step });
  }

  /** Let the plugin act at a phase of `scenario.hooks`; `data` is what it may look at, or rewrite. */
  async hook(at, data, { call, step } = {}) {
    return this.#pass("hook", { at, data, ...(call && { call }) }, { step });
  }

  /** Make a state durable. @param {Checkpoint} checkpoint */
  async commit({ trigger, cause = null, force = null, state = null }) {
    const shown = { trigger, cause, force, state };
    if (!this.#life.scenario.hold.includes("store.put")) return this.#life.show("checkpoint", shown);
    await this.#pass("store.put", shown);
  }

  /** Show what the runtime itself says happened. @param {string} kind @param {object} fields */
  observe(kind, fields = {}) {
    const shown = structuredClone({ run: this.run, ...fields });
    this.#life.count(this.#counts, kind, shown);
    this.#life.show(kind, shown);
  }

  /** Turn down one decision of the verb under way, and go on with the others. */
  refuse(why, decision) {
    const verb = current.getStore();
    this.#life.refused.push({ stimulus: verb?.stimulus ?? 0, ...(decision && { decision }), why });
  }

  #resume(call, given) {
    return given === undefined ? (this.#life.counts.resumes[call] ?? null) : given;
  }

  async #pass(on, fields, how = {}) {
    const outcome = await this.#life.pass(this.#counts, on, fields, how);
    if (outcome.kind === "fault") throw new WorldFault(outcome.message ?? "the outside world broke");
    return outcome;
  }
}

// --- one life of a runtime ----------------------------------------------------------------------

class Life {
  constructor(adapter, scenario, counts, clock) {
    Object.assign(this, { adapter, scenario, counts, clock, isDead: false, broken: null, announced: null });
    Object.assign(this, { log: [], refused: [], verbs: [], gates: new Map(), baseline: new Map() });
    this.host = new Host(this);
    this.live = adapter.handshake.decisions?.live ?? true;
  }

  worksOutside() {
    if (this.adapter.busy?.()) return true;
    return [...underWay()].some(([kind, count]) => count > (this.baseline.get(kind) ?? 0));
  }

  // What the runtime does.

  show(kind, fields) {
    if (this.isDead) return;
    this.announced = null;
    const verb = current.getStore();
    for (const touched of this.verbs.includes(verb) ? [verb] : this.verbs) touched.touched = true;
    this.append(kind, fields);
  }

  append(kind, fields) {
    this.log.push(structuredClone({ kind, run: this.counts.run, ...fields }));
  }

  /** Whether a tool of the scenario stays at work when its signal is aborted. */
  ignoresAborts(name) {
    return this.scenario.tools.some((tool) => tool.name === name && tool.abort === "ignored");
  }

  count(counts, kind, fields) {
    if (this.isDead) return;
    if (kind === "run.status" && fields.run === counts.run) counts.status = fields.to;
    if (kind !== "call.status" || fields.to !== "Suspended") return;
    const counted = counts.suspensions[fields.call] ?? 0;
    fields.suspension ??= counted && fields.from === null ? counted : counted + 1;
    counts.suspensions[fields.call] = fields.suspension;
  }

  pass(counts, on, fields, { signal, step, activity }) {
    return new Promise((resolve, reject) => {
      if (this.isDead) return; // whoever waits here waits for ever
      // A request that is already aborted is never sent; a body or a function is entered all the same.
      if (signal?.aborted && on === "model") return reject(new GivenUp("the signal was aborted"));
      const id = `g${++this.counts.gates}`;
      const gate = { id, on, counts, activity, resolve, call: fields.call, state: fields };
      this.gates.set(id, gate);
      this.show("gate.open", { run: counts.run, gate: id, on, step: step ?? counts.step, ...fields });
      if (signal?.aborted) return this.giveUp(gate, reject);
      signal?.addEventListener("abort", () => this.giveUp(gate, reject), { once: true });
    });
  }

  giveUp(gate, reject) {
    if (this.gates.delete(gate.id)) {
      this.show("gate.closed", { run: gate.counts.run, gate: gate.id, because: "the runtime stopped waiting for it" });
      reject(new GivenUp("the signal was aborted"));
    }
  }

  // What the kit does.

  release(gate, outcome) {
    if (outcome.kind === "activity") return void (gate.activity && this.clock.soon(gate.activity, [outcome.content]));
    if (!this.gates.delete(gate.id)) return; // too late: the runtime gave it up in the same race
    if (gate.on === "model" && outcome.kind === "turn") gate.counts.asked(outcome.tool_calls ?? []);
    if (gate.on === "store.put" && outcome.kind !== "fault") this.append("checkpoint", gate.state);
    gate.resolve(gate.on === "model" ? { text: "", tool_calls: [], ...outcome } : outcome);
  }

  begin(verb, work) {
    this.verbs.push(verb);
    // In a microtask, so that all of a race is handed over before any of it runs.
    const done = current.run(verb, () => Promise.resolve().then(work));
    done.then((result) => this.returned(verb, result), (error) => this.failed(verb, error));
  }

  returned(verb, result) {
    const concurrent = [...this.verbs];
    this.verbs = this.verbs.filter((one) => one !== verb);
    if (this.isDead) return;
    if ((result === undefined || result === null) && verb.name === "start") {
      this.broken = new ProtocolError(INTERNAL_ERROR, "the adapter's start gave nothing; a segment is {reason, pending}");
    }
    if (result === undefined || result === null) return;
    const reason = typeof result.reason === "string" ? { code: result.reason } : result.reason;
    if (!reason?.code) {
      const words = `the adapter's ${verb.name} gave ${JSON.stringify(result)}; a segment is {reason, pending}`;
      this.broken = new ProtocolError(INTERNAL_ERROR, words);
      return;
    }
    this.announce(verb, { reason, pending: [...(result.pending ?? [])] }, concurrent);
  }

  failed(verb, error) {
    if (error instanceof Refused || (REFUSABLE.has(verb.name) && !verb.touched)) {
      this.verbs = this.verbs.filter((one) => one !== verb);
      verb.undo?.();
      if (isSlip(error)) this.showError(verb, error);
      return this.turnDown(verb, error?.message ?? String(error), error?.decision);
    }
    if (verb.name === "cancel" || isSlip(error)) this.showError(verb, error);
    if (verb.name !== "cancel") return this.returned(verb, { reason: { code: "Error", detail: String(error) } });
    this.verbs = this.verbs.filter((one) => one !== verb);
  }

  showError(verb, error) {
    this.append("adapter.error", { verb: verb.name, error: `${error} (${placeOf(error)})` });
  }

  announce(verb, fields, concurrent) {
    const last = this.announced;
    if (last && JSON.stringify(last.fields) === JSON.stringify(fields) && last.concurrent.includes(verb)) return;
    if (this.counts.run === verb.run) this.counts.ended(fields.pending, fields.reason.code);
    this.append("run.finished", { run: verb.run, ...fields });
    this.announced = { fields, concurrent };
  }

  turnDown(verb, why, named) {
    const decisions = verb.decisions?.length ? verb.decisions : [undefined];
    for (const decision of decisions) {
      const words = named === undefined || named === decision ? why : `turned down together with ${named}`;
      this.refused.push({ stimulus: verb.stimulus, ...(decision && { decision }), why: words });
    }
  }

  async report() {
    await settle(this);
    if (this.broken) throw this.broken;
    const answer = { observations: this.log, quiescent: true, refused: this.refused };
    Object.assign(this, { log: [], refused: [] });
    return answer;
  }
}

// --- the verbs ----------------------------------------------------------------------------------

const illegal = (why) => new ProtocolError(ILLEGAL_STIMULUS, why);

class Served {
  constructor(factory) {
    Object.assign(this, { factory, clock: new Clock(), life: null, counts: new Counts(), scenario: null, asking: 0 });
    this.clock.install();
  }

  initialize({ protocol }) {
    if (protocol.min > 1 || protocol.max < 1) throw new ProtocolError(INVALID_PARAMS, "this side speaks protocol 1");
    const adapter = this.factory();
    const said = adapter.handshake;
    const keeps = adapter.checkpoint && adapter.restore;
    const held = { store: keeps ? "own" : "none", crash: keeps ? ["soft"] : [] };
    const control = { settle: "exact", clock: "virtual", step: "none", ...held, ...said.control };
    if (!adapter.restore) control.crash = [];
    const stimuli = (said.stimuli ?? STIMULI).filter((one) => adapter[NEEDS[one] ?? "start"]);
    const shown = ["run.finished", ...(said.gates?.includes("store.put") ? ["checkpoint"] : [])];
    const observes = [...new Set([...(said.observes ?? []), ...shown])];
    return { protocol: 1, ...said, control, stimuli, observes };
  }

  async open(scenario) {
    if (this.scenario) throw illegal(`scenario ${this.scenario.scenario} is open`);
    Object.assign(this, { counts: new Counts(), kept: undefined });
    const whole = { tools: [], agent: { stop: [] }, hold: [], ...scenario };
    const life = new Life(this.factory(), whole, this.counts, this.clock);
    await life.adapter.open(life.host, whole);
    await turn();
    life.baseline = underWay();
    Object.assign(this, { life, scenario: whole });
    return {};
  }

  async close() {
    if (!this.scenario) throw illegal("no scenario is open");
    const { life } = this;
    const isOver = ["Done", null].includes(this.counts.status);
    const gates = life && isOver ? [...life.gates.values()].filter(({ state }) => !life.ignoresAborts(state.name)) : [];
    if (life) life.isDead = true;
    await life?.adapter.close?.();
    this.clock.forget();
    Object.assign(this, { life: null, scenario: null });
    return { leaks: gates.map(({ id, on, call }) => ({ gate: id, on, ...(call && { call }) })) };
  }

  living() {
    if (!this.scenario) throw illegal("no scenario is open");
    if (!this.life) throw illegal("the runtime crashed; recover comes first");
    return this.life;
  }

  /** Check one stimulus, and give what hands it over. */
  plan(method, params, stimulus = 0) {
    const life = this.living();
    const planned = this[`plan_${method.replace(".", "_")}`];
    if (!planned) throw new ProtocolError(METHOD_NOT_FOUND, `there is no verb ${method}`);
    return planned.call(this, life, params, stimulus);
  }

  plan_run_start(life, { run, input, decisions = [], watcher, stream }, stimulus) {
    if (![null, "Done"].includes(this.counts.status)) throw illegal(`run ${this.counts.run} is not Done`);
    if (run === this.counts.run || this.counts.past.has(run)) throw illegal(`run ${run} was started before`);
    return () => {
      const verb = { name: "start", run, stimulus, decisions: decisions.map((one) => one.id) };
      verb.undo = this.counts.begin(run);
      life.begin(verb, () => (this.seat(life, watcher, stream), life.adapter.start(input, decisions)));
    };
  }

  plan_decide(life, { run, decisions, watcher, stream }, stimulus) {
    this.mustHave("decide");
    return this.goOn(life, "decide", run, decisions, stimulus, () => {
      this.seat(life, watcher, stream);
      return life.adapter.decide(decisions);
    });
  }

  plan_run_input(life, { run, input, decisions = [] }, stimulus) {
    this.mustHave("input");
    const steers = !decisions.length && life.adapter.handshake.inputs?.working !== false;
    return this.goOn(life, "input", run, decisions, stimulus, () => life.adapter.input(input, decisions), steers);
  }

  goOn(life, name, run, decisions, stimulus, work, steers = false) {
    const verb = { name, run, stimulus, decisions: decisions.map((one) => one.id) };
    if (this.isPast(run)) return () => life.turnDown(verb, `run ${run} is over`);
    if (!steers && !life.live && life.verbs.some((one) => one.name !== "cancel")) throw illegal("a segment is under way");
    return () => {
      verb.undo = this.counts.decided(decisions);
      life.begin(verb, work);
    };
  }

  plan_cancel(life, { run }, stimulus) {
    const verb = { name: "cancel", run, stimulus };
    if (this.isPast(run)) return () => life.turnDown(verb, `run ${run} is over`);
    this.mustHave("cancel");
    return () => life.begin(verb, () => life.adapter.cancel());
  }

  plan_gate_release(life, { gate, outcome }) {
    const known = life.gates.get(gate);
    if (!known) throw new ProtocolError(NO_SUCH_GATE, `gate ${gate} is not open; open: ${[...life.gates.keys()]}`);
    return () => life.release(known, outcome);
  }

  plan_clock_advance(life, { ms }) {
    return () => void (this.clock.horizon += ms);
  }

  plan_grant_revoke(life, { tool }) {
    this.mustHave("revoke");
    return () => this.clock.soon(() => life.adapter.revoke(tool), []);
  }

  plan_watch(life, { watcher, stream }) {
    this.mustHave("watch");
    return () => this.clock.soon(() => this.seat(life, watcher, stream), []);
  }

  plan_unwatch(life) {
    this.mustHave("unwatch");
    return () => this.clock.soon(() => life.adapter.unwatch(), []);
  }

  plan_settle() {
    return () => {};
  }

  seat(life, watcher, stream) {
    if (watcher !== undefined && watcher !== null) life.adapter.watch(watcher, stream ?? "native");
  }

  isPast(run) {
    if (this.counts.past.has(run)) return true;
    if (run !== this.counts.run && this.counts.run !== null) throw illegal(`there is no run ${run}`);
    return false;
  }

  mustHave(method) {
    if (!this.life.adapter[method]) throw new ProtocolError(UNSUPPORTED, `the adapter has no ${method}`);
  }

  async stimulate(method, params) {
    const parts = method === "deliver" ? params.stimuli : [{ method, params }];
    const plans = parts.map((part, at) => this.plan(part.method, part.params, at)); // all, before any acts
    for (const handOver of plans) handOver();
    return this.life.report();
  }

  async crash() {
    const life = this.living();
    this.mustHave("restore");
    life.isDead = true; // its promises are never settled: no clean-up runs, and nothing reaches the world
    this.asking = [...life.gates.values()].filter((gate) => gate.on === "model").length;
    this.kept = structuredClone(await life.adapter.checkpoint?.());
    this.clock.forget();
    this.life = null;
    return {};
  }

  async recover({ run, store }) {
    if (!this.scenario) throw illegal("no scenario is open");
    const life = (this.life = new Life(this.factory(), this.scenario, this.counts, this.clock));
    this.mustHave("restore");
    life.baseline = underWay();
    this.counts.recovered(run, store, this.asking);
    const verb = { name: "recover", run, stimulus: 0, undo: () => this.counts.begin(null) };
    life.begin(verb, () => this.restoring(life, verb, store ?? this.kept));
    return life.report();
  }

  async restoring(life, verb, state = null) {
    const { handshake, checkpoint } = life.adapter;
    const findsItself = handshake.control?.store === "own" && !checkpoint; // its bytes are where it left them
    try {
      if (state === null && !findsItself) throw new Refused("nothing was durable");
      await life.adapter.restore(life.host, life.scenario, state);
    } catch (error) {
      life.adapter = this.factory(); // the run never was: the runtime is as new
      await life.adapter.open(life.host, life.scenario);
      throw error;
    }
    verb.touched = true;
    return life.adapter.resumeRun?.(verb.run);
  }

  async inspect({ run }) {
    this.living();
    this.mustHave("inspect");
    return this.life.adapter.inspect(run);
  }

  async answer(method, params) {
    const own = { initialize: "initialize", "scenario.open": "open", "scenario.close": "close" };
    const alike = { crash: "crash", recover: "recover", inspect: "inspect" };
    const verb = { ...own, ...alike }[method];
    if (verb) return this[verb](params);
    return method === "shutdown" ? {} : this.stimulate(method, params);
  }
}

// --- the pipe -----------------------------------------------------------------------------------

/**
 * Answer the kit on standard input and output until its input ends.
 * @param {() => Adapter} factory  makes a new adapter, one for every life of the runtime
 * @param {(factory: () => object) => {answer: Function}} [make]  makes what answers: another family has its own
 */
export async function serve(factory, make = (one) => new Served(one)) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr); // what the runtime prints is no answer
  globalThis.console = new Console(process.stderr, process.stderr);
  process.on("uncaughtException", (error) => stray.push(error)); // a rejection that nobody awaits as well
  const say = (answer) => write(`${JSON.stringify({ jsonrpc: "2.0", ...answer })}\n`);
  const served = make(factory);
  served.exchange = (answer) => (say(answer), JSON.parse(nextLine()));
  for await (const line of lines(process.stdin)) {
    const answer = await answered(served, line);
    say(answer);
    if (answer.isOver) break;
  }
  process.exit(0);
}

async function* lines(input) {
  let unread = "";
  input.setEncoding("utf8");
  for await (const chunk of input) {
    const whole = (unread + chunk).split("\n");
    unread = whole.pop();
    yield* whole;
  }
}

/** The next line of the input, read while nothing else of this process runs. */
function nextLine() {
  const read = [], some = Buffer.alloc(65_536), clock = new Int32Array(new SharedArrayBuffer(4));
  while (read.at(-1)?.at(-1) !== 10) {
    try {
      const size = readSync(0, some);
      if (!size) process.exit(0);
      read.push(Buffer.from(some.subarray(0, size)));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(clock, 0, 0, 1); // decides nothing but how soon the line is seen
    }
  }
  return Buffer.concat(read).toString("utf8");
}

async function answered(served, line) {
  try {
    served.request = JSON.parse(line);
  } catch (error) {
    return { id: null, error: { code: PARSE_ERROR, message: String(error) } };
  }
  const { method, params = {} } = served.request;
  const answer = await served.answer(method, params).then((result) => ({ result }), failure);
  return { id: served.request.id, ...answer };
}

/** The answer to a request that went wrong. */
export function failure(error) {
  if (error instanceof ProtocolError) return { error: { code: error.code, message: error.message } };
  const message = `the runtime or its adapter crashed: ${error}`;
  return { error: { code: SUT_CRASHED, message, data: { trace: error?.stack } } };
}
