// Mastra's agent behind the hosted interface, offline: a model that asks the kit, and tools that need approval.
//
// A run that waits is a snapshot in the store, and the thread is its memory: both in a file of LibSQL's.  A
// decision approves or declines one call, or resumes a tool whose body suspended.  A call in the run of a subagent
// is decided by the id of the call that the subagent is within, as it is documented.
//
// Undeclared: a cancel of a run that waits, since nothing of it is under way; decisions that are live or have
// ids, since a decision resumes a run; `store.put` gates, since the store is a database; a result that comes
// with a decision, since the body is entered again; an error that a tool returns, since it has no form of its
// own.

import { Agent } from "@mastra/core/agent";
import { MastraError } from "@mastra/core/error";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { z } from "zod";
import about from "@mastra/core/package.json" with { type: "json" };
import { Refused, serve, unlessAborted } from "./runlock.mjs";
import { kitModel, SUBAGENT } from "./model.mjs";

const PLACE = { thread: "thread", resource: "user" };
const ALL = 1_000_000; // instead of the last 10 messages of the thread, and of 5 steps
const FEW_MS = 100;
const DELEGATION = {
  // What a hook puts into the context of a subagent's run is read by its model and its tools.
  onDelegationStart: ({ toolCallId, requestContext }) => void requestContext.set("call", toolCallId),
  messageFilter: () => [], // instead of the conversation around it
};

class Adapter {
  handshake = {
    implementation: { name: "@mastra/core", version: about.version, language: "javascript" },
    profile: "core",
    // At https://mastra.ai/docs/agents/human-in-the-loop the store keeps a run that waits, a function may say which
    // calls do, and what is approved is executed.
    policies: { state: "runtime", "decision.modes": ["replay"] },
    control: { store: "own", crash: ["soft", "kill"] },
    gates: ["model", "permission", "tool"],
    observes: ["call.shown"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
    inputs: { working: false },
    outcomes: { permission: ["allow", "suspend"], tool: ["ok", "raise", "pending"] },
    tools: ["allow", "ask", "gate", "agent", "unabortable"],
    decisions: { live: false, ids: false, suspensions: false, payload: true },
  };

  open(host, { tools, data }) {
    this.host = host;
    this.stop = new AbortController();
    this.gated = tools.filter(({ permission }) => permission === "gate").map(({ name }) => name);
    this.runs = 0; // how many of Mastra's were begun
    this.asked = {}; // what it asked for of each call that waits, or waited
    this.hosts = {}; // of the runs within calls
    const storage = new LibSQLStore({ id: "store", url: `file:${data}/mastra.db` });
    const agents = this.subagents(tools);
    this.agent = new Agent({
      id: "supervisor",
      name: "supervisor",
      instructions: "",
      model: kitModel(host, Object.keys(agents)),
      tools: this.tools(tools.filter(({ agent }) => !agent)),
      agents,
      memory: new Memory({ storage, options: { lastMessages: ALL } }),
      defaultOptions: { delegation: DELEGATION },
    });
    this.mastra = new Mastra({ agents: { supervisor: this.agent, ...agents }, storage, logger: false });
  }

  subagents(tools) {
    const defaultOptions = { maxSteps: ALL, requireToolApproval: (asked) => this.isHeld(asked) };
    const model = ({ requestContext }) => kitModel(this.hostOf(requestContext.get("call")));
    const how = { instructions: "", model, defaultOptions };
    const made = tools.filter(({ agent }) => agent).map(({ name: id, agent }) => {
      const own = this.tools(tools.filter(({ name }) => agent.tools.includes(name)));
      return [id, new Agent({ id, name: id, description: id, tools: own, ...how })];
    });
    return Object.fromEntries(made);
  }

  tools(specs) {
    return Object.fromEntries(specs.map((spec) => [spec.name, this.tool(spec)]));
  }

  /** The host of the run within a call, if there is a call. */
  hostOf(call) {
    return call ? (this.hosts[`${this.host.run}/${call}`] ??= this.host.within(call)) : this.host;
  }

  start(text) {
    this.stop = new AbortController();
    const runId = `${this.host.run}-${this.runs++}`;
    const requireToolApproval = (asked) => this.isHeld(asked); // which an approval is not given, as it documents
    return this.run((options) => this.agent.generate(text, { ...options, runId, requireToolApproval }));
  }

  input(text) {
    return this.start(text);
  }

  /** Decisions for one call that come together are sent at the same time, as two users send them.  Those for
   * several calls are sent one after the other: as documented, a run waits for one call, then for the next. */
  async decide(decisions) {
    this.stop = new AbortController();
    this.left = null;
    for (const together of Map.groupBy(decisions, ({ call }) => call).values()) {
      if (this.stop.signal.aborted) break; // a caller who has cancelled approves no further call
      const sent = await Promise.allSettled(together.map((decision) => this.send(decision)));
      const failed = sent.find(({ status }) => status === "rejected");
      if (failed) throw failed.reason;
    }
    return this.left;
  }

  /** Each decision is a call of its own, and one that is turned down says nothing of the others. */
  async send(decision) {
    try {
      this.left = await this.run((options) => this.answer(decision, options)); // the last one to end says how
    } catch (error) {
      if (!(error instanceof MastraError)) throw error;
      this.host.refuse(error.message, decision.id);
    }
  }

  answer({ call, action, payload }, options) {
    const { runId = this.runId, toolCallId = call, requiresApproval } = this.asked[call] ?? {};
    const which = { ...options, runId, toolCallId };
    if (action === "cancel") return this.agent.declineToolCallGenerate(which);
    if (requiresApproval === false) return this.agent.resumeGenerate(payload, which);
    return this.agent.approveToolCallGenerate(which);
  }

  cancel() {
    this.stop.abort();
  }

  async restore(host, scenario) {
    this.open(host, scenario);
    if (!(await this.waiting()).length) throw new Refused("nothing was durable");
  }

  async resumeRun() {
    return { reason: "Suspended", pending: await this.waiting() };
  }

  async run(work) {
    const { signal: abortSignal } = this.stop;
    // One call at a time is the default where a tool needs approval.
    const how = { memory: PLACE, abortSignal, maxSteps: ALL, toolCallConcurrency: 1 };
    const { finishReason, runId } = await work(how);
    this.runId = runId;
    const isCancelled = abortSignal.aborted && !["stop", "suspended"].includes(finishReason);
    if (isCancelled) return { reason: "Cancelled" };
    const pending = await this.waiting(); // also in a run of this thread that went on to wait before this one
    return { reason: pending.length ? "Suspended" : "NaturalEnd", pending };
  }

  /** The calls that wait, of each of Mastra's runs that the kit's run has come to. */
  async waiting() {
    const { thread: threadId, resource: resourceId } = PLACE;
    const { runs } = await this.agent.listSuspendedRuns({ threadId, resourceId });
    const ours = runs.filter(({ runId }) => runId.startsWith(`${this.host.run}-`));
    const calls = [];
    for (const { runId, toolCalls } of ours) {
      this.runId ??= runId;
      this.runs = Math.max(this.runs, Number(runId.split("-")[1]) + 1);
      calls.push(...toolCalls.map((one) => ({ ...waits(one), runId })));
    }
    for (const { call, name, args, ...asked } of calls) {
      this.asked[call] = asked;
      this.host.observe("call.shown", { call, name, args });
    }
    return calls.map(({ call }) => call);
  }

  /** The function is given no id of the call, of which the kit's is among the arguments. */
  async isHeld({ toolName, args, requestContext }) {
    if (!this.gated.includes(toolName)) return false;
    return (await this.hostOf(requestContext.call).permit(args.k, toolName, args)).kind === "suspend";
  }

  tool({ name, permission }) {
    const execute = async (args, { abortSignal: signal, agent, requestContext }) => {
      const { toolCallId: call, suspend, resumeData } = agent;
      if (resumeData?.approved === false) return "rejected"; // its body suspended, and was declined
      const entered = this.hostOf(requestContext.get("call")).tool(call, name, args, { signal });
      const { kind, content } = await unlessAborted(signal, entered);
      return kind === "pending" ? suspend({ args }) : content; // what is shown of it is what it says itself
    };
    const about = { id: name, description: name, inputSchema: z.looseObject({}) };
    return createTool({ ...about, requireApproval: permission === "ask", execute });
  }
}

/** A call that waits, or the one that waits within it; `toolCallId` is what a decision has to name. */
function waits({ toolCallId, toolName, args, requiresApproval, suspendPayload }) {
  const inner = toolName.startsWith(SUBAGENT) ? suspendPayload : null;
  if (inner) return { ...waits({ ...inner, requiresApproval: !inner.suspendPayload }), toolCallId };
  const asked = { toolCallId, requiresApproval };
  return { call: toolCallId, name: toolName, args: args ?? suspendPayload.args, ...asked };
}

/** Time as Mastra needs it: the store puts messages in order by theirs, and its engine waits for a few ms. */
function letTimePass({ Date: KitDate, setTimeout }) {
  let last = 0; // so that no two readings are equal
  const now = () => (last = Math.max(last + 1, KitDate.now()));
  globalThis.Date = class extends KitDate {
    constructor(...parts) {
      super(...(parts.length ? parts : [now()]));
    }
    static now = now;
  };
  globalThis.setTimeout = (work, ms = 0, ...about) => setTimeout(work, ms > FEW_MS ? ms : 0, ...about);
}

serve(() => new Adapter());
letTimePass(globalThis); // on the kit's clock, which `serve` has put in place
