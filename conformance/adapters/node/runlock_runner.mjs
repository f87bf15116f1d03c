// The hosted interface of the family tool-runner for JavaScript: an adapter sends requests and enters tools through
// the host, and this file plays the user who iterates over the runner.  Gates, quiescence, the clock and the
// pipe are those of `runlock.mjs`.
//
//     import { serveRunner, Refused } from "./runlock_runner.mjs";
//     serveRunner(() => new Adapter());

import {
  Clock, ProtocolError, Refused, ToolRaised, WorldFault, failure, serve, settle, turn, underWay,
} from "./runlock.mjs";

export { Refused, ToolRaised, WorldFault };

/**
 * @typedef {{message: object | null, pieces: AsyncIterable<object> | null}} Item
 *
 * @typedef {object} RunnerAdapter  what the author of a runner writes; what is missing here is not declared
 * @property {object} handshake
 * @property {(host: RunnerHost, scenario: object) => Promise<void> | void} open
 * @property {(input: string) => AsyncIterator<Item>} run  make the runner with one user message, and iterate
 * @property {() => object | null} last  the last turn that was received
 * @property {() => string} ended  why the iteration ended: NaturalEnd, Stopped, Cancelled
 * @property {() => AsyncIterator<Item>} [again]
 * @property {(messages: object[]) => void} [push]
 * @property {(messages: object[] | null, params: object | null) => void} [set]
 * @property {() => Promise<object[] | null>} [respond]
 * @property {(add: string[], remove: string[]) => void} [tools]
 * @property {() => void} [cancel]
 * @property {() => {messages?: object[], params?: object, tools?: string[]}} [snapshot]
 * @property {() => Promise<void> | void} [close]
 */

const UNSUPPORTED = -32001, ILLEGAL_STIMULUS = -32002, NO_SUCH_GATE = -32003;
const METHOD_NOT_FOUND = -32601, INVALID_PARAMS = -32602;
const NEEDS = {
  "runner.push": "push", "runner.set.params": "set", "runner.set.messages": "set", "runner.respond": "respond",
  "runner.tools": "tools", "runner.again": "again", cancel: "cancel", "cancel.yield": "cancel",
};
const NO_YIELD = "no yield is open";
const OUTSIDE_A_RUN = new Set(["initialize", "scenario.open", "scenario.close", "shutdown"]);

class Left extends Error {}

/** A list of values that somebody waits for. */
class Queue {
  values = [];
  waiting = [];

  put(value) {
    this.values.push(value);
    for (const wake of this.waiting.splice(0)) wake();
  }

  async some() {
    while (!this.values.length) await new Promise((wake) => this.waiting.push(wake));
  }
}

// --- the host -----------------------------------------------------------------------------------

/** The outside world, in the kit's hands: whatever is awaited here waits at a gate. */
export class RunnerHost {
  #life;

  constructor(life) {
    this.#life = life;
  }

  /** Send a request and wait for the whole turn; an aborted signal gives the gate up. */
  async infer(messages, more) {
    for await (const piece of this.stream(messages, more)) if (piece.kind === "turn") return piece;
  }

  /** Send a request; gives the pieces as they come, and then the whole turn. */
  stream(messages, { sent, params, tools, signal }) {
    const life = this.#life;
    life.step += 1;
    const named = tools ? { tools: [...tools].sort() } : {};
    const gate = life.openGate("model", { messages, sent, params, ...named });
    signal?.addEventListener("abort", () => life.giveUp(gate), { once: true });
    if (signal?.aborted) life.giveUp(gate);
    return life.pieces(gate);
  }

  /** Let the kit see a request that is refused: its gate opens, and is given up. */
  refuse(messages, more) {
    const refused = new AbortController();
    this.stream(messages, { ...more, signal: refused.signal });
    refused.abort();
  }

  /** Enter a tool's body; a call without an id is known by its argument `k`. */
  async tool(call, name, args, { version = 1 } = {}) {
    const life = this.#life;
    const known = call ?? String(args?.k);
    life.attempts[known] = (life.attempts[known] ?? 0) + 1;
    life.toolsEntered += 1;
    const gate = life.openGate("tool", { call: known, name, args, attempt: life.attempts[known], version });
    await gate.answers.some();
    const outcome = gate.answers.values.shift();
    if (outcome.kind === "fault") throw new WorldFault(outcome.message);
    if (outcome.kind === "raise") throw new ToolRaised(outcome.message ?? "the tool raised");
    return outcome;
  }

  /**
   * Show the user a turn in a listener that the runner does not wait for, in the place of an item.  The user acts
   * before the listener returns, so that nothing else runs meanwhile.  Gives "resume" or "break".
   */
  show(message) {
    return this.#life.show(message);
  }

  /** Report that the runner has put a message into its state. */
  message(message) {
    this.#life.append("message", { message });
  }
}

// --- one life of a runner, and its user ---------------------------------------------------------

class RunnerLife {
  constructor(adapter, scenario, clock) {
    Object.assign(this, { adapter, scenario, clock, isOver: false, broken: null, baseline: new Map() });
    Object.assign(this, { log: [], refused: [], runs: [], gates: new Map(), numbers: 0, attempts: {} });
    Object.assign(this, { step: 0, iteration: 0, toolsEntered: 0, run: null, walk: null });
    Object.assign(this, { status: null, reason: null, isCancelled: false, between: [], shown: null });
    this.host = new RunnerHost(this);
    this.reads = (scenario.runner.read ?? "all") === "all";
  }

  worksOutside() {
    return [...underWay()].some(([kind, count]) => count > (this.baseline.get(kind) ?? 0));
  }

  append(kind, fields) {
    if (!this.isOver) this.log.push(structuredClone({ kind, run: this.run, ...fields }));
  }

  openGate(on, fields) {
    const id = `g${++this.numbers}`;
    const gate = { id, on, answers: new Queue(), shown: { gate: id, on, step: this.step, ...fields } };
    this.gates.set(id, gate);
    this.append("gate.open", gate.shown);
    return gate;
  }

  shut(gate) {
    this.gates.delete(gate.id);
    if (gate.on === "model") for (const wake of this.between.splice(0)) wake();
  }

  /** Whether the runner stands in a listener, where the user acts. */
  isHeld() {
    return this.shown !== null && this.gates.has(this.shown.id);
  }

  giveUp(gate) {
    if (!this.gates.has(gate.id)) return;
    this.shut(gate);
    this.append("gate.closed", { gate: gate.id, because: "the runner stopped waiting for it" });
    gate.answers.put({ kind: "given up" });
  }

  release(gate, outcome) {
    if (!this.gates.has(gate.id)) return; // too late: the runner gave it up in the same race
    if (outcome.kind === "turn") {
      outcome = { text: "", tool_calls: [], ...outcome };
      outcome.stop_reason ??= outcome.tool_calls.length ? "tool_use" : "end_turn";
      for (const { id } of outcome.tool_calls) delete this.attempts[id];
    }
    if (outcome.kind !== "delta") this.shut(gate);
    if (gate.on === "yield") this.walk?.inlet.put({ answer: outcome.kind });
    gate.answers.put(outcome);
  }

  async *pieces(gate) {
    try {
      for (;;) {
        await gate.answers.some();
        const piece = gate.answers.values.shift();
        if (piece.kind === "fault") throw new WorldFault(piece.message);
        if (piece.kind === "given up") throw new DOMException("the request was given up", "AbortError");
        yield piece;
        if (piece.kind === "turn") return;
      }
    } finally {
      this.giveUp(gate);
    }
  }

  async betweenRequests() {
    while ([...this.gates.values()].some((gate) => gate.on === "model")) {
      await new Promise((wake) => this.between.push(wake));
    }
  }

  // The user.

  turnDown(stimulus, why) {
    this.refused.push({ stimulus, why });
  }

  act(act) {
    if (this.walk?.gate) this.walk.inlet.put(act);
    else this.turnDown(act.stimulus, NO_YIELD);
  }

  begin(run, makeItems, stimulus) {
    const before = { run: this.run, walk: this.walk, status: this.status, reason: this.reason };
    const undo = (why) => (Object.assign(this, before), this.runs.pop(), this.turnDown(stimulus, why));
    this.runs.push(run);
    Object.assign(this, { run, status: "Running", reason: null });
    this.walk = { run, gate: null, inlet: new Queue() };
    Promise.resolve()
      .then(() => this.iterate(this.walk, makeItems, undo))
      .catch((error) => (this.broken = error));
  }

  async iterate(walk, makeItems, undo) {
    try {
      walk.items = makeItems();
      for (;;) {
        const { value, done } = await walk.items.next();
        if (done) break;
        await this.see(walk, value);
        await this.betweenRequests();
      }
      if (walk.isLeft) throw new Left();
      const code = this.adapter.ended();
      this.finish(code === "Stopped" ? { code, stop: { code: "max_iterations" } } : { code });
    } catch (error) {
      if (error instanceof Refused) return undo(error.message);
      await Promise.resolve(walk.items?.return?.()).catch(() => {});
      const left = walk.isLeft || error instanceof Left;
      const code = this.isCancelled ? "Cancelled" : left ? "BehaviorRequested" : "Error";
      this.finish(left ? { code } : { code, detail: String(error) });
    }
  }

  openYield(message) {
    return this.openGate("yield", { iteration: ++this.iteration, message });
  }

  show(message) {
    if (this.isOver) return "break";
    const gate = (this.shown = this.openYield(message));
    this.hold(gate);
    this.shown = null;
    const answer = gate.answers.values[0]?.kind ?? "break"; // without an answer the scenario is over
    if (answer === "break") this.walk.isLeft = true;
    return answer;
  }

  async see(walk, { message, pieces }) {
    const gate = (walk.gate = this.openYield(message));
    walk.inlet = new Queue();
    const reader = pieces && this.reads ? this.read(pieces, gate) : null;
    reader?.catch(() => {});
    let answer;
    try {
      answer = await this.actUntilReleased(walk, reader);
    } finally {
      walk.gate = null;
      if (this.gates.has(gate.id)) this.giveUp(gate);
      for (const rest of walk.inlet.values.splice(0)) if (!rest.answer) this.turnDown(rest.stimulus, NO_YIELD);
    }
    if (answer === "break") throw new Left();
    await reader?.catch(() => {});
  }

  /** Perform the actions in order; responses are made while later actions come.
   *
   * A user who meets an error in a stream takes the next item: the runner says what becomes of it. */
  async actUntilReleased(walk, reader) {
    const failed = new Queue();
    reader?.catch(() => walk.inlet.put({ answer: "resume" }));
    for (;;) {
      await Promise.race([walk.inlet.some(), failed.some()]);
      if (failed.values.length) throw failed.values[0];
      const act = walk.inlet.values.shift();
      if (act.answer) return act.answer;
      if (act.name === "respond") this.respond(act, reader).catch((error) => failed.put(error));
      else await this.perform(act);
    }
  }

  async perform(act) {
    try {
      await act.work();
    } catch (error) {
      this.turnDown(act.stimulus, String(error?.message ?? error));
    }
  }

  async respond(act, reader) {
    await reader?.catch(() => {}); // a stream has one reader at a time
    const before = this.toolsEntered;
    let messages;
    try {
      messages = await act.work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return this.turnDown(act.stimulus, error.message);
    }
    const cached = messages ? { cached: this.toolsEntered === before } : {};
    this.append("runner.response", { messages: messages ?? null, ...cached });
  }

  async read(pieces, gate) {
    for await (const data of pieces) this.append("event", { stream: "turn", name: "delta", data });
    const data = this.adapter.last();
    if (this.gates.has(gate.id) && data) this.append("event", { stream: "turn", name: "end", data });
  }

  finish(reason) {
    if (this.isOver) return;
    Object.assign(this, { status: "Done", reason, walk: null });
    this.append("run.finished", { reason, pending: [], message: this.adapter.last() });
  }

  async report() {
    await settle(this);
    return this.observed();
  }

  observed() {
    if (this.broken) throw this.broken;
    const answer = { observations: this.log, quiescent: true, refused: this.refused };
    Object.assign(this, { log: [], refused: [] });
    return answer;
  }
}

// --- the verbs ----------------------------------------------------------------------------------

const illegal = (why) => new ProtocolError(ILLEGAL_STIMULUS, why);

class ServedRunner {
  constructor(factory) {
    Object.assign(this, { factory, clock: new Clock(), life: null, request: null, later: null });
    this.clock.install();
  }

  initialize({ protocol }) {
    if (protocol.min > 1 || protocol.max < 1) throw new ProtocolError(INVALID_PARAMS, "this side speaks protocol 1");
    const adapter = this.factory();
    const said = adapter.handshake;
    const control = { settle: "exact", clock: "virtual", step: "none", store: "none", crash: [], ...said.control };
    const stimuli = (said.stimuli ?? []).filter((one) => adapter[NEEDS[one] ?? "run"]);
    const derived = ["run.finished"];
    if (stimuli.includes("runner.respond")) derived.push("runner.response");
    if (said.runner?.stream?.includes(true) && (said.runner.read ?? ["all"]).includes("all")) derived.push("event");
    const observes = [...new Set([...(said.observes ?? []), ...derived])];
    return { protocol: 1, family: "tool-runner", ...said, control, stimuli, observes };
  }

  async open(scenario) {
    if (this.life) throw illegal(`scenario ${this.life.scenario.scenario} is open`);
    Object.assign(this.clock, { now: 0, horizon: 0 });
    const tools = (scenario.tools ?? []).map((tool) => ({ offered: true, ...tool }));
    const life = new RunnerLife(this.factory(), { ...scenario, tools, runner: scenario.runner ?? {} }, this.clock);
    life.hold = (gate) => this.hold(life, gate);
    await life.adapter.open(life.host, life.scenario);
    await turn();
    life.baseline = underWay();
    this.life = life;
    return {};
  }

  async close() {
    const life = this.living();
    const isOver = [null, "Done"].includes(life.status);
    const gates = isOver ? [...life.gates.values()].map(({ shown: { gate, on, call } }) => ({ gate, on, ...(call && { call }) })) : [];
    life.isOver = true;
    await life.adapter.close?.();
    this.clock.forget();
    this.life = null;
    return { leaks: gates };
  }

  inspect() {
    const life = this.living();
    this.mustHave("snapshot");
    const { status, reason, step, iteration } = life;
    return { status, reason, step, iteration, calls: {}, ...life.adapter.snapshot() };
  }

  living() {
    if (!this.life) throw illegal("no scenario is open");
    return this.life;
  }

  mustHave(method) {
    if (!this.life.adapter[method]) throw new ProtocolError(UNSUPPORTED, `the adapter has no ${method}`);
  }

  /** Check one stimulus, and give what hands it over. */
  plan(method, params, stimulus) {
    const life = this.living();
    const { adapter } = life;
    const act = (name, work) => (this.mustHave(name), () => life.act({ name, work, stimulus }));
    switch (method) {
      case "run.start":
        if (life.runs.length) throw illegal(`run ${life.runs[0]} was started before`);
        return () => life.begin(params.run, () => adapter.run(params.input), stimulus);
      case "runner.again":
        this.mustHave("again");
        if (life.status !== "Done" || life.runs.includes(params.run)) throw illegal("the run before it is not Done");
        return () => life.begin(params.run, () => adapter.again(), stimulus);
      case "gate.release": {
        const gate = life.gates.get(params.gate);
        if (!gate) throw new ProtocolError(NO_SUCH_GATE, `gate ${params.gate} is not open`);
        return () => life.release(gate, params.outcome);
      }
      case "cancel":
        this.mustHave("cancel");
        return () => {
          if (life.status !== "Running") return;
          life.isCancelled = true;
          if (life.isHeld()) adapter.cancel();
          else this.clock.soon(() => adapter.cancel(), []);
        };
      case "runner.push":
        return act("push", () => adapter.push(params.messages));
      case "runner.set":
        return act("set", () => adapter.set(params.messages ?? null, params.params ?? null));
      case "runner.respond":
        return act("respond", () => adapter.respond());
      case "runner.tools":
        return act("tools", () => adapter.tools(params.add ?? [], params.remove ?? []));
      case "clock.advance":
        return () => void (this.clock.horizon += params.ms);
      case "settle":
        return () => {};
    }
    throw new ProtocolError(METHOD_NOT_FOUND, `there is no verb ${method}`);
  }

  handOver(method, params) {
    const parts = method === "deliver" ? params.stimuli : [{ method, params }];
    const plans = parts.map((part, at) => this.plan(part.method, part.params, at)); // all, before any acts
    for (const act of plans) act();
  }

  async stimulate(method, params) {
    this.handOver(method, params);
    const report = await this.life.report();
    const { later } = this;
    this.later = null;
    return later ? this.answer(later.method, later.params ?? {}) : report;
  }

  /** Answer the kit from within a listener of the runner, until the yield is released or the scenario ends. */
  hold(life, gate) {
    let answer = { result: life.observed() };
    while (life.gates.has(gate.id) && !life.isOver) {
      this.request = this.exchange({ id: this.request.id, ...answer });
      answer = this.answerHeld(life, this.request);
    }
  }

  answerHeld(life, { method, params = {} }) {
    try {
      if (method === "inspect") return { result: this.inspect() };
      if (OUTSIDE_A_RUN.has(method)) return (this.later = this.request), (life.isOver = true), {};
      this.handOver(method, params);
      return life.isHeld() ? { result: life.observed() } : {};
    } catch (error) {
      return failure(error);
    }
  }

  async answer(method, params) {
    const own = { initialize: "initialize", "scenario.open": "open", "scenario.close": "close", inspect: "inspect" };
    if (own[method]) return this[own[method]](params);
    if (method !== "shutdown") return this.stimulate(method, params);
    return {};
  }
}

/** Answer the kit on standard input and output. @param {() => RunnerAdapter} factory */
export function serveRunner(factory) {
  return serve(factory, (one) => new ServedRunner(one));
}
