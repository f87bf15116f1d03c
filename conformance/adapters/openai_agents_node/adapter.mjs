// @openai/agents behind the hosted interface, offline: a model that asks the kit, tools that need approval,
// always or where a function says so, and agents as tools.
//
// A run that waits is a `RunState`, which its caller holds as a string.  The thread is the history that a
// result gives to its caller.

import { AsyncLocalStorage } from "node:async_hooks";
import { Agent, run, RunState, RunToolApprovalItem, setTracingDisabled, tool } from "@openai/agents";
import about from "./node_modules/@openai/agents/package.json" with { type: "json" };
import { Refused, serve, unlessAborted } from "./runlock.mjs";
import { functionCall, kitModel } from "./model.mjs";

setTracingDisabled(true);

const within = new AsyncLocalStorage(); // the host of the run within a call that is under way here

class Adapter {
  handshake = {
    implementation: { name: "@openai/agents", version: about.version, language: "javascript" },
    profile: "core",
    // At https://openai.github.io/openai-agents-js/guides/ human-in-the-loop gives its caller the state, lets it
    // decide a part of the calls, and executes what is approved, and tools makes a result of an error; runConfig.ts
    // starts all calls of a turn unless a limit is set.
    policies: {
      state: "caller", resume: "partial", "decision.modes": ["replay"], "tool.raises": "failed_call",
      "round.executor": "parallel",
    },
    gates: ["model", "permission", "tool"],
    observes: ["call.shown"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
    inputs: { working: false },
    outcomes: { permission: ["allow", "suspend"], tool: ["ok", "raise"] },
    tools: ["allow", "ask", "gate", "agent", "unabortable"],
    // The state of a run that a cancel or an error ended continues its turn, as guides/results has it.
    decisions: {
      live: false, ids: false, suspensions: false, payload: false, after_error: false, after_cancel: false,
    },
  };

  open(host, { tools }) {
    this.host = host;
    this.hosts = {}; // of the runs within calls
    this.agent = this.agentOf("agent", tools, tools);
    this.asked = {}; // the library's own request for each call that waits, or waited
    this.thread = [];
    this.kept = null; // the state of a run that waits, as its caller stores it
    this.text = null; // what was said and has no answer yet
    this.isOver = false; // whether the state has its answer
    this.stop = new AbortController();
  }

  agentOf(name, offered, tools) {
    const own = offered.map((spec) => this.tool(spec, tools));
    return new Agent({ name, model: kitModel(() => this.here()), tools: own });
  }

  here() {
    return within.getStore() ?? this.host;
  }

  start(text) {
    this.text = text;
    return this.run([...this.thread, { role: "user", content: text }]);
  }

  /** A state that waits takes what is said until its run goes on; else it begins a run of its own. */
  input(text) {
    if (!this.state?.getInterruptions().length) return this.start(text);
    this.state.addInput(text);
    this.kept = this.state.toString();
  }

  decide(decisions) {
    for (const { id, call, action } of decisions) {
      const item = this.asked[call] ?? this.madeUp(call);
      try { // each decision is a call of its own, and one that fails says nothing of the others
        if (action === "resume") this.state.approve(item);
        else this.state.reject(item);
      } catch (error) {
        this.host.refuse(String(error.message), id);
      }
    }
    return this.run(this.state);
  }

  /** A request for a call that asked for nothing: one of the thread, or one that is not there. */
  madeUp(call) {
    const known = this.thread.find((item) => item.type === "function_call" && item.callId === call);
    return new RunToolApprovalItem(known ?? functionCall({ id: call, name: "nothing" }), this.agent);
  }

  cancel() {
    this.stop.abort();
  }

  checkpoint() {
    return { kept: this.kept, thread: this.thread, text: this.text };
  }

  async restore(host, scenario, { kept, thread, text }) {
    this.open(host, scenario);
    Object.assign(this, { kept, thread, text });
    if (kept === null) return;
    this.state = await RunState.fromString(this.agent, kept);
    this.ask(this.state.getInterruptions());
  }

  /** Its caller says again what has no answer, or still has the state that waits. */
  resumeRun() {
    if (this.text !== null) return this.start(this.text);
    if (this.kept === null) throw new Refused("its caller has nothing of this run");
    return { reason: "Suspended", pending: Object.keys(this.asked) };
  }

  async run(given) {
    const signal = (this.stop = new AbortController()).signal;
    const before = this.isOver && given.history?.length; // of a state that has its answer
    const how = { stream: true, signal, maxTurns: null }; // without a limit
    const result = await run(this.agent, given, how);
    try {
      await result.completed;
    } finally {
      Object.assign(this, { state: result.state, thread: result.history, text: null });
    }
    if (result.history.length === before) return null; // it comes back as it was
    this.isOver = !result.cancelled && !result.interruptions.length;
    if (result.cancelled) return { reason: "Cancelled" };
    if (this.isOver) return { reason: "NaturalEnd" };
    this.kept = result.state.toString();
    for (const { name, arguments: args, rawItem } of result.interruptions) {
      this.host.observe("call.shown", { call: rawItem.callId, name, args: JSON.parse(args) });
    }
    return { reason: "Suspended", pending: this.ask(result.interruptions) };
  }

  ask(requests) {
    const asked = Object.fromEntries(requests.map((item) => [item.rawItem.callId, item]));
    Object.assign(this.asked, asked);
    return Object.keys(asked);
  }

  tool({ name, permission, agent }, tools) {
    if (agent) return this.agentAsTool(name, agent, tools);
    const execute = async (args, context, { toolCall: { callId }, signal }) => {
      return (await unlessAborted(signal, this.here().tool(callId, name, args, { signal }))).content;
    };
    const parameters = { type: "object", properties: {}, required: [], additionalProperties: true };
    // The function is given no signal: the library looks at its own when it has its answer.
    const isHeld = async (_, args, call) => (await this.here().permit(call, name, args)).kind === "suspend";
    const needsApproval = permission === "gate" ? isHeld : permission === "ask";
    return tool({ name, description: name, parameters, strict: false, needsApproval, execute });
  }

  /** The library's own tool, whose run differs from the others by the call that it is within. */
  agentAsTool(name, { tools: offered }, tools) {
    const agent = this.agentOf(name, tools.filter((spec) => offered.includes(spec.name)), tools);
    const made = agent.asTool({ toolName: name, toolDescription: "an agent" });
    const { invoke } = made;
    made.invoke = (context, args, details) => {
      const around = this.here();
      const { callId } = details.toolCall;
      const inner = (this.hosts[`${around.run}/${callId}`] ??= around.within(callId));
      const input = JSON.stringify({ input: String(JSON.parse(args).v) });
      return within.run(inner, () => invoke(context, input, details));
    };
    return made;
  }
}

serve(() => new Adapter());
