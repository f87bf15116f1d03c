// The chat of Vercel's AI SDK behind the hosted interface, offline: its client, its agent and the stream between.
//
// The client builds the messages from the stream, as a page with `useChat` does.  They are all the state there is.
// It sends responses by itself, once no request for approval is left in the last message, as the documentation advises.
//
// Undeclared: a crash, since an application stores the messages when a response is over, each in its own way.

import {
  AbstractChat, DirectChatTransport, getToolName, hasToolCall, isToolUIPart, jsonSchema,
  lastAssistantMessageIsCompleteWithApprovalResponses as sendAutomaticallyWhen, tool, ToolLoopAgent,
} from "ai";
import about from "ai/package.json" with { type: "json" };
import { needsApproval, policies, toolApproval, verdicts } from "./approval.mjs";
import { serve } from "./runlock.mjs";
import { kitModel } from "./model.mjs";

/** The state of a chat, which `useChat` would keep in React. */
class State {
  status = "ready";
  messages = [];
  pushMessage = (one) => void (this.messages = [...this.messages, one]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, one) => void (this.messages = this.messages.with(at, structuredClone(one)));
  snapshot = structuredClone;
}

class Chat extends AbstractChat {}

const parts = (message) => (message?.parts ?? []).filter(isToolUIPart);
const isAsked = (part) => part.state === "approval-requested";

class Adapter {
  handshake = {
    implementation: { name: "ai, chat", version: about.version, language: "javascript" },
    profile: "core",
    // At https://ai-sdk.dev/docs/ai-sdk-ui/chatbot-tool-usage the client holds the responses until all are there.
    // agents/tool-approvals and agents/loop-control say of its agent what they say of `generateText`.
    policies: {
      state: "caller", resume: "collect", "decision.modes": ["replay"], "replay.gate": "yes",
      "tool.raises": "failed_call", "stop.conditions": ["stop_on_tool"], "stop.tools": "drained", ...policies,
    },
    gates: ["model", "permission", "tool"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver", "watch.request"],
    inputs: { working: false },
    streams: ["ai-sdk-v6"],
    observes: ["call.shown", "event", "stream.closed"],
    outcomes: { permission: verdicts, tool: ["ok", "raise"] },
    tools: ["allow", "ask", "gate", "unabortable"],
    decisions: { live: false, ids: false, suspensions: false, payload: false, after_error: false },
  };

  open(host, { tools, agent: { stop } }) {
    this.host = host;
    const kit = Object.fromEntries(tools.map((spec) => [spec.name, this.tool(spec)]));
    this.stops = stop.map((one) => hasToolCall(one.tool_name));
    const stopWhen = this.stops.length ? this.stops : () => false;
    const how = { toolApproval: toolApproval(host, tools), stopWhen };
    const agent = new ToolLoopAgent({ model: kitModel(host, () => {}), tools: kit, ...how });
    const direct = new DirectChatTransport({ agent });
    const transport = { sendMessages: async (request) => this.shown(await direct.sendMessages(request)) };
    this.chat = new Chat({ state: new State(), transport, sendAutomaticallyWhen, onFinish: (how) => this.finish(how) });
    this.expect();
  }

  async start(text) {
    await this.chat.sendMessage({ text });
    return this.ended(await this.finished);
  }

  input(text) {
    return this.start(text);
  }

  async decide(decisions) {
    for (const { call, action } of decisions) {
      const id = this.asked(call) ?? call;
      await this.chat.addToolApprovalResponse({ id, approved: action === "resume" });
    }
    const hasSent = ["submitted", "streaming"].includes(this.chat.status);
    return hasSent ? this.ended(await this.finished) : null;
  }

  cancel() {
    return this.chat.stop();
  }

  watch(watcher, stream) {
    this.seat = { watcher, stream };
  }

  /** From now on `finished` is the end of the next response. */
  expect() {
    this.finished = new Promise((finish) => void (this.finish = finish));
  }

  ended({ isAbort, finishReason }) {
    this.expect();
    if (this.chat.status === "error") throw this.chat.error;
    if (isAbort) return { reason: "Cancelled" };
    const waiting = parts(this.chat.lastMessage).filter(isAsked);
    for (const part of waiting) {
      this.host.observe("call.shown", { call: part.toolCallId, name: getToolName(part), args: part.input });
    }
    if (this.stops.length && !waiting.length && finishReason === "tool-calls") {
      return { reason: { code: "Stopped", stop: { code: "stop_on_tool" } } };
    }
    return { reason: waiting.length ? "Suspended" : "NaturalEnd", pending: waiting.map((one) => one.toolCallId) };
  }

  /** The id of the newest request for approval of a call, open or answered. */
  asked(call) {
    const ofCall = this.chat.messages.flatMap(parts).filter((part) => part.toolCallId === call);
    return (ofCall.find(isAsked) ?? ofCall.at(-1))?.approval?.id;
  }

  /** The stream of a response, whose chunks the kit sees when the client receives them. */
  shown(response) {
    const transform = (data, controller) => {
      if (this.seat) this.host.observe("event", { ...this.seat, name: data.type, data });
      controller.enqueue(data);
    };
    const flush = () => {
      if (this.seat) this.host.observe("stream.closed", { watcher: this.seat.watcher });
      this.seat = null;
    };
    return response.pipeThrough(new TransformStream({ transform, flush }));
  }

  tool(spec) {
    const { name } = spec;
    const execute = async (args, { toolCallId, abortSignal: signal }) => {
      return (await this.host.tool(toolCallId, name, args, { signal })).content;
    };
    const about = { description: name, inputSchema: jsonSchema({ type: "object" }) };
    return tool({ ...about, needsApproval: needsApproval(this.host, spec), execute });
  }
}

serve(() => new Adapter());
