// Vercel's AI SDK behind the hosted face, offline: a model that asks the kit, and tools that need approval.
//
// A call that waits has a request for its approval among the messages, and a decision is the response that is
// put behind them.  The messages are all the state there is, and their caller keeps them.

import { generateText, jsonSchema, tool } from "ai";
import about from "ai/package.json" with { type: "json" };
import { Refused, serve } from "./interlock.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const STATUS = { "execution-denied": "cancelled", "error-text": "error", "error-json": "error" };

class Adapter {
  handshake = {
    implementation: { name: "ai", version: about.version, language: "javascript" },
    profile: "core",
    // Two are promised at https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling, and at
    // https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error that no call may lack its response.
    policies: { state: "caller", resume: "all_or_nothing", "tool.raises": "failed_call" },
    gates: ["model", "tool"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
    outcomes: { tool: ["ok", "raise"] },
    tools: ["allow", "ask"],
    decisions: { live: false, ids: false, suspensions: false, payload: false, after_error: false },
  };

  open(host, { tools }) {
    const doGenerate = (asked) => this.infer(asked);
    this.host = host;
    this.model = { specificationVersion: "v3", provider: "kit", modelId: "kit", supportedUrls: {}, doGenerate };
    this.tools = Object.fromEntries(tools.map((spec) => [spec.name, this.tool(spec)]));
    this.stop = new AbortController();
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
    const how = { abortSignal, prepareStep, stopWhen: () => false };
    try {
      const result = await generateText({ ...how, model: this.model, tools: this.tools, messages });
      const added = result.responseMessages ?? result.response.messages; // of version 7, of version 6
      return this.keep([...messages, ...added], this.ended(result.content));
    } catch (error) {
      if (!abortSignal.aborted) throw error;
      return this.keep(this.now, { reason: "Cancelled" });
    }
  }

  keep(messages, ended = null) {
    this.kept = { messages, ended };
    return ended;
  }

  ended(content) {
    const requests = content.filter((part) => part.type === "tool-approval-request");
    const waiting = requests.map(({ toolCall, approvalId }) => [toolCall.toolCallId, approvalId]);
    Object.assign(this.asked, Object.fromEntries(waiting));
    return { reason: waiting.length ? "Suspended" : "NaturalEnd", pending: waiting.map(([call]) => call) };
  }

  async infer({ prompt, abortSignal: signal }) {
    this.keep(this.now);
    const { text, tool_calls } = await this.host.infer(prompt.flatMap(seen), { signal });
    const content = tool_calls.map(({ id, name, args }) => {
      return { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) };
    });
    if (text) content.unshift({ type: "text", text });
    const finishReason = { unified: tool_calls.length ? "tool-calls" : "stop" };
    return { content, finishReason, usage: USAGE, warnings: [] };
  }

  tool({ name, permission }) {
    const execute = async (args, { toolCallId, abortSignal: signal }) => {
      this.keep(this.now);
      return (await this.host.tool(toolCallId, name, args, { signal })).content;
    };
    const inputSchema = jsonSchema({ type: "object" });
    return tool({ description: name, inputSchema, needsApproval: permission === "ask", execute });
  }
}

/** What the model receives, in the protocol's words. */
function seen({ role, content }) {
  const parts = (type) => content.filter((part) => part.type === type);
  const results = parts("tool-result").map(({ toolCallId: call, output }) => {
    return { role, call, status: STATUS[output.type] ?? "ok", text: String(output.value ?? output.reason ?? "") };
  });
  if (role === "tool") return results;
  const calls = parts("tool-call").map(({ toolCallId: id, toolName: name, input: args }) => ({ id, name, args }));
  const text = parts("text").map((part) => part.text).join("");
  return [{ role, text, ...(calls.length && { tool_calls: calls }) }];
}

serve(() => new Adapter());
