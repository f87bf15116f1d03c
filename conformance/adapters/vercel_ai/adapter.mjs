// Vercel's AI SDK behind the hosted interface, offline: a model that asks the kit, and tools that need approval.
//
// A call that waits has a request for its approval among the messages, and a decision is the response that is
// put after them.  The messages are all the state there is, and their caller keeps them.
//
// Undeclared: a limit of rounds, since one counts the steps of a request, and a run that waits takes several.

import { generateText, hasToolCall, jsonSchema, tool } from "ai";
import about from "ai/package.json" with { type: "json" };
import { needsApproval, newMessages, policies, refusals, toolApproval, verdicts } from "./approval.mjs";
import { Refused, serve } from "./runlock.mjs";
import { kitModel } from "./model.mjs";

class Adapter {
  handshake = {
    implementation: { name: "ai", version: about.version, language: "javascript" },
    profile: "core",
    // At https://ai-sdk.dev/docs/ ai-sdk-core/tools-and-tool-calling gives its caller the messages, runs what is
    // approved, and tells the model of an error; troubleshooting/missing-tool-results-error lets no call lack its
    // response; agents/tool-approvals asks again about what was approved; agents/loop-control stops after the tools.
    policies: {
      state: "caller", resume: "all_or_nothing", "decision.modes": ["replay"], "replay.gate": "yes",
      "tool.raises": "failed_call", "stop.conditions": ["stop_on_tool"], "stop.tools": "drained",
      ...policies, ...refusals,
    },
    gates: ["model", "permission", "tool"],
    observes: ["call.shown"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
    inputs: { working: false },
    outcomes: { permission: verdicts, tool: ["ok", "raise"] },
    tools: ["allow", "ask", "gate", "unabortable"],
    decisions: { live: false, ids: false, suspensions: false, payload: false, after_error: false },
  };

  open(host, { tools, agent }) {
    this.host = host;
    this.model = kitModel(host, () => this.keep(this.now));
    this.tools = Object.fromEntries(tools.map((spec) => [spec.name, this.tool(spec)]));
    this.toolApproval = toolApproval(host, tools);
    this.stop = new AbortController();
    this.stops = agent.stop.map((one) => hasToolCall(one.tool_name));
    this.stopWhen = this.stops.length ? this.stops : () => false;
    this.asked = {}; // the request for each call that waits, or waited
    this.kept = { messages: [], ended: null };
  }

  start(text) {
    return this.run({ role: "user", content: text });
  }

  input(text) {
    return this.start(text);
  }

  decide(decisions) {
    const content = decisions.map(({ call, action }) => ({
      type: "tool-approval-response",
      approvalId: this.asked[call] ?? call,
      approved: action === "resume",
    }));
    return this.run({ role: "tool", content });
  }

  cancel() {
    this.stop.abort();
  }

  checkpoint() {
    return { asked: this.asked, kept: this.kept };
  }

  restore(host, scenario, { asked, kept }) {
    if (!kept.messages.length) throw new Refused("nothing was durable");
    this.open(host, scenario);
    Object.assign(this, { asked, kept });
  }

  resumeRun() {
    return this.kept.ended ?? this.run();
  }

  async run(...said) {
    const messages = (this.now = [...this.kept.messages, ...said]);
    const abortSignal = (this.stop = new AbortController()).signal;
    const prepareStep = (step) => void (this.now = step.messages);
    const onStepFinish = newMessages((added) => this.keep((this.now = [...this.now, ...added])));
    const watched = { abortSignal, prepareStep, onStepFinish };
    const how = { ...watched, toolApproval: this.toolApproval, stopWhen: this.stopWhen };
    try {
      const result = await generateText({ ...how, model: this.model, tools: this.tools, messages });
      const added = result.responseMessages ?? result.response.messages; // of version 7, of version 6
      return this.keep([...messages, ...added], this.ended(result));
    } catch (error) {
      if (!abortSignal.aborted) throw error;
      return this.keep(this.now, { reason: "Cancelled" });
    }
  }

  keep(messages, ended = null) {
    this.kept = { messages, ended };
    return ended;
  }

  ended({ content, finishReason }) {
    const requests = content.filter((part) => part.type === "tool-approval-request" && !part.isAutomatic);
    const waiting = requests.map(({ toolCall, approvalId }) => [toolCall.toolCallId, approvalId]);
    Object.assign(this.asked, Object.fromEntries(waiting));
    for (const { toolCall: { toolCallId: call, toolName: name, input: args } } of requests) {
      this.host.observe("call.shown", { call, name, args });
    }
    if (this.stops.length && !waiting.length && finishReason === "tool-calls") {
      return { reason: { code: "Stopped", stop: { code: "stop_on_tool" } } };
    }
    return { reason: waiting.length ? "Suspended" : "NaturalEnd", pending: waiting.map(([call]) => call) };
  }

  tool(spec) {
    const { name } = spec;
    const execute = async (args, { toolCallId, abortSignal: signal }) => {
      this.keep(this.now);
      return (await this.host.tool(toolCallId, name, args, { signal })).content;
    };
    const about = { description: name, inputSchema: jsonSchema({ type: "object" }) };
    return tool({ ...about, needsApproval: needsApproval(this.host, spec), execute });
  }
}

serve(() => new Adapter());
