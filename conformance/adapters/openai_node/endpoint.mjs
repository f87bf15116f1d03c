// The Chat Completions API for `openai`, answered by the kit: a `fetch` that refuses a history in which calls and
// results do not pair, as the API documents it.

import { WorldFault } from "./runlock_runner.mjs";

const JSON_TYPE = { "content-type": "application/json" };
const ENVELOPE = new Set(["messages", "model", "stream", "tool_choice", "tools"]);

export class Endpoint {
  constructor(host) {
    Object.assign(this, { host, replies: 0 });
    this.fetch = this.fetch.bind(this);
  }

  async fetch(_, { body, signal }) {
    const asked = JSON.parse(body);
    const shown = {
      sent: asked.messages.length,
      params: Object.fromEntries(Object.entries(asked).filter(([key]) => !ENVELOPE.has(key))),
      tools: asked.tools?.map((tool) => tool.function.name),
      signal,
    };
    const wrong = unpaired(asked.messages);
    if (wrong) {
      this.host.refuse(seen(asked.messages), shown);
      return error(400, "invalid_request_error", wrong);
    }
    try {
      const turn = await this.host.infer(seen(asked.messages), shown);
      return new Response(JSON.stringify(this.completion(turn)), { headers: JSON_TYPE });
    } catch (fault) {
      if (!(fault instanceof WorldFault)) throw fault;
      return error(500, "server_error", fault.message);
    }
  }

  completion({ text, tool_calls, stop_reason }) {
    const calls = tool_calls.map(({ id, name, args }) => {
      return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
    });
    const message = { role: "assistant", content: text || null, refusal: null, ...(calls.length && { tool_calls: calls }) };
    const choice = { index: 0, message, logprobs: null, finish_reason: stop_reason === "tool_use" ? "tool_calls" : "stop" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return { id: `chatcmpl-${++this.replies}`, object: "chat.completion", created: 0, model: "kit", choices: [choice], usage };
  }
}

/** Messages of the API in the protocol's words; what the runner writes for an unknown tool is an error. */
export function seen(messages) {
  return messages.map(({ role, content, tool_calls, tool_call_id: call }) => {
    const text = content ?? "";
    if (role === "tool") return { role, call, status: text.startsWith("Invalid tool_call:") ? "error" : "ok", text };
    const calls = tool_calls?.map(({ id, function: { name, arguments: args } }) => ({ id, name, args: JSON.parse(args) }));
    return { role, text, ...(calls && { tool_calls: calls }) };
  });
}

/** What the API refuses: a call that is not answered right after its message, and an answer to no call. */
function unpaired(messages) {
  let open = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === "tool") {
      if (!open.includes(tool_call_id)) return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
      open = open.filter((id) => id !== tool_call_id);
      continue;
    }
    if (open.length) return `these tool_call_ids did not have response messages: ${open.join(", ")}`;
    open = (tool_calls ?? []).map(({ id }) => id);
  }
  return open.length ? `these tool_call_ids did not have response messages: ${open.join(", ")}` : "";
}

function error(status, type, message) {
  return new Response(JSON.stringify({ error: { message, type, param: null, code: null } }), { status, headers: JSON_TYPE });
}
