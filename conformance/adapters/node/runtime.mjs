// @ts-check
// A small agent runtime, as somebody might have written it for a service of their own: it asks a model,
// runs the calls of a turn side by side, parks those that a person must decide, and stops when it is told to.
// Its types stand in JSDoc, so that it runs on Node as it is; `tsc --checkJs` reads them.

/**
 * @typedef {{id: string, name: string, args: Record<string, unknown>}} Call
 * @typedef {{role: string, text?: string, tool_calls?: Call[], call?: string, status?: string}} Message
 * @typedef {{kind: string, content?: unknown}} Answer
 * @typedef {"runs" | "waits" | "asks"} Rule  what holds a tool back: nothing, a person, or a policy that is asked
 * @typedef {{call: Call, status: "waits" | "runs" | "over"}} Work
 * @typedef {{approved: boolean}} Approval
 * @typedef {{
 *   think: (thread: Message[], signal: AbortSignal) => Promise<{text: string, tool_calls: Call[]}>,
 *   act: (call: Call, signal: AbortSignal) => Promise<Answer>,
 *   may: (call: Call, signal: AbortSignal) => Promise<Answer>,
 * }} World
 */

/** One thread of runs. */
export class Runtime {
  /** @param {World} world @param {Map<string, Rule>} rules */
  constructor(world, rules) {
    this.world = world;
    this.rules = rules;
    /** @type {Message[]} */
    this.thread = [];
    /** @type {Map<string, Work>} */
    this.round = new Map();
    this.stop = new AbortController();
  }

  /** Begin a run; gives how it ended, or which calls it waits for. @param {string} text */
  async say(text) {
    this.stop = new AbortController();
    this.round = new Map();
    this.thread.push({ role: "user", text });
    return this.goOn([]);
  }

  /** Which of these calls wait for somebody. @param {string[]} calls */
  waiting(calls = [...this.round.keys()]) {
    return calls.filter((call) => this.round.get(call)?.status === "waits");
  }

  /** Decide calls that wait, and go on once none does. @param {Map<string, Approval>} approvals */
  async resolve(approvals) {
    const decided = this.waiting([...approvals.keys()]).map((id) => /** @type {Work} */ (this.round.get(id)));
    const acts = decided.map((work) => {
      if (approvals.get(work.call.id)?.approved) return this.execute(work);
      return this.close(work, "cancelled", "it was rejected");
    });
    return this.goOn(acts);
  }

  /** Stop whatever is under way; a run that waits is over at once. */
  cancel() {
    this.stop.abort();
    return this.over("cancelled");
  }

  /** Turn after turn, once what is under way is done. @param {(Promise<void> | void)[]} acts */
  async goOn(acts) {
    const stop = this.stop;
    try {
      await Promise.all(acts);
      while (!stop.signal.aborted) {
        if (this.waiting().length) return { state: "parked", waiting: this.waiting() };
        const turn = await this.world.think(this.thread, stop.signal);
        if (await this.takes(turn)) return this.over("complete");
      }
      return this.over("cancelled");
    } catch (error) {
      if (stop.signal.aborted) return this.over("cancelled");
      stop.abort(); // the siblings of the call that failed give up
      return this.over("failed");
    }
  }

  /** Take a turn of the model; whether it was the last. @param {{text: string, tool_calls: Call[]}} turn */
  async takes({ text, tool_calls }) {
    const calls = [...new Map(tool_calls.map((call) => [call.id, call])).values()]; // a model may say one twice
    this.thread.push({ role: "assistant", text, tool_calls: calls });
    this.round = new Map(calls.map((call) => [call.id, { call, status: "runs" }]));
    await Promise.all([...this.round.values()].map((work) => this.begin(work)));
    return calls.length === 0;
  }

  /** @param {Work} work */
  async begin(work) {
    const rule = this.rules.get(work.call.name);
    if (rule === undefined) return this.close(work, "error", "there is no such tool");
    if (rule === "waits") return this.park(work);
    if (rule === "runs") return this.execute(work);
    const verdict = await this.world.may(work.call, this.stop.signal);
    if (work.status === "over") return; // the run ended meanwhile
    if (verdict.kind === "suspend") return this.park(work);
    if (verdict.kind === "allow") return this.execute(work);
    const isBlocked = verdict.kind === "block";
    return this.close(work, isBlocked ? "error" : "ok", isBlocked ? "it was blocked" : verdict.content);
  }

  /** @param {Work} work */
  async execute(work) {
    work.status = "runs";
    const answer = await this.world.act(work.call, this.stop.signal);
    if (answer.kind === "pending") return this.park(work);
    return this.close(work, answer.kind === "error" ? "error" : "ok", answer.content);
  }

  /** @param {Work} work */
  park(work) {
    if (work.status !== "over") work.status = "waits";
  }

  /** Every call has one result in the thread. @param {Work} work @param {string} status @param {unknown} said */
  close(work, status, said) {
    if (work.status === "over") return;
    work.status = "over";
    const text = typeof said === "string" ? said : JSON.stringify(said);
    this.thread.push({ role: "tool", call: work.call.id, status, text });
  }

  /** @param {"complete" | "cancelled" | "failed"} state */
  over(state) {
    for (const work of this.round.values()) this.close(work, "cancelled", `the run is ${state}`);
    return { state, waiting: [] };
  }
}
