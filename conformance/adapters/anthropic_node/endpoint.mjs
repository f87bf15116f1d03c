// The Messages API for `@anthropic-ai/sdk`, answered by the kit: a `fetch` that holds threads as the server does,
// and refuses a history in which calls and results do not pair.  Its twin in Python is `models/anthropic.py`.

import { WorldFault } from "./runlock_runner.mjs";

const ENVELOPE = new Set(["messages", "model", "stream", "system", "thread", "tools"]);
const JSON_TYPE = { "content-type": "application/json" };
const SSE_TYPE = { "content-type": "text/event-stream" };

export class Endpoint {
  constructor(host) {
    Object.assign(this, { host, threads: new Map(), paused: new Set(), replies: 0, pieces: 0 });
    this.fetch = this.fetch.bind(this);
  }

  async fetch(_, { body, signal }) {
    const asked = JSON.parse(body);
    const thread = asked.thread ?? {};
    const held = thread.type === "continue" ? this.threads.get(thread.previous_message_id) : [];
    if (!held) return error(404, "not_found_error", "the thread was not found", { error_code: "thread_not_found" });
    const history = [...held, ...asked.messages];
    const shown = {
      sent: seen(asked.messages).length,
      params: Object.fromEntries(Object.entries(asked).filter(([key]) => !ENVELOPE.has(key))),
      tools: asked.tools?.map((tool) => tool.name),
      signal,
    };
    const wrong = unpaired(history, this.paused);
    if (wrong) {
      this.host.refuse(seen(history), shown);
      return error(400, "invalid_request_error", wrong);
    }
    this.pieces = 0;
    const pieces = this.host.stream(seen(history), shown);
    return asked.stream ? this.streamed(history, pieces) : this.whole(history, pieces);
  }

  async whole(history, pieces) {
    const reply = new Reply(`msg_${++this.replies}`);
    try {
      for await (const piece of pieces) {
        if (piece.kind !== "turn") continue;
        reply.rest(piece);
        this.keep(history, reply, piece);
        return new Response(JSON.stringify(reply.whole(piece)), { headers: JSON_TYPE });
      }
    } catch (fault) {
      if (!(fault instanceof WorldFault)) throw fault;
      return error(529, "overloaded_error", fault.message);
    }
  }

  async streamed(history, pieces) {
    const reply = new Reply(`msg_${++this.replies}`);
    let first;
    try {
      first = (await pieces.next()).value;
    } catch (fault) {
      if (!(fault instanceof WorldFault)) throw fault;
      return error(529, "overloaded_error", fault.message);
    }
    const start = async (controller) => {
      const write = (events) => controller.enqueue(new TextEncoder().encode(events.map(sse).join("")));
      try {
        write([{ type: "message_start", message: reply.empty() }]);
        for (let piece = first; ; piece = (await pieces.next()).value) {
          if (piece.kind === "delta") {
            this.pieces += 1;
            write(reply.piece(piece));
            continue;
          }
          const events = [...reply.rest(piece), ...reply.end(piece)];
          this.keep(history, reply, piece);
          write([...events, { type: "message_stop" }]);
          return controller.close();
        }
      } catch (fault) {
        if (!(fault instanceof WorldFault)) return controller.error(fault);
        write([{ type: "error", error: { type: "overloaded_error", message: fault.message } }]);
        controller.close();
      }
    };
    return new Response(new ReadableStream({ start: (controller) => void start(controller) }), { headers: SSE_TYPE });
  }

  keep(history, reply, turn) {
    if (turn.stop_reason === "pause_turn") for (const { id } of turn.tool_calls) this.paused.add(id);
    this.threads.set(reply.id, [...history, { role: "assistant", content: reply.blocks }]);
  }
}

/** One message of the model: what a turn adds to its pieces is written as events too. */
class Reply {
  constructor(id) {
    Object.assign(this, { id, blocks: [], inText: false });
  }

  empty() {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: this.id, type: "message", role: "assistant", model: "kit", content: [] };
    return { ...message, stop_reason: null, stop_sequence: null, usage };
  }

  whole(turn) {
    return { ...this.empty(), content: this.blocks, stop_reason: turn.stop_reason };
  }

  piece({ text, tool_call }) {
    return [...(text ? this.text(text) : []), ...(tool_call ? this.call(tool_call) : [])];
  }

  rest({ text, tool_calls }) {
    const said = this.blocks.map((block) => block.text ?? "").join("").length;
    const asked = this.blocks.filter((block) => block.type === "tool_use").length;
    const more = text.slice(said);
    return [...(more ? this.text(more) : []), ...tool_calls.slice(asked).flatMap((call) => this.call(call))];
  }

  end({ stop_reason }) {
    const delta = { stop_reason, stop_sequence: null };
    return [...this.stopText(), { type: "message_delta", delta, usage: { output_tokens: 1 } }];
  }

  text(text) {
    const started = this.inText ? [] : [this.start({ type: "text", text: "" })];
    this.inText = true;
    this.blocks.at(-1).text += text;
    return [...started, this.event("content_block_delta", { delta: { type: "text_delta", text } })];
  }

  call({ id, name, args }) {
    const stopped = this.stopText();
    const started = this.start({ type: "tool_use", id, name, input: {} });
    this.blocks[this.blocks.length - 1] = { type: "tool_use", id, name, input: args };
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(args) };
    return [...stopped, started, this.event("content_block_delta", { delta }), this.event("content_block_stop")];
  }

  start(block) {
    this.blocks.push(block);
    return this.event("content_block_start", { content_block: { ...block } });
  }

  stopText() {
    const stopped = this.inText ? [this.event("content_block_stop")] : [];
    this.inText = false;
    return stopped;
  }

  event(type, fields = {}) {
    return { type, index: this.blocks.length - 1, ...fields };
  }
}

const sse = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function error(status, type, message, details) {
  const body = { type: "error", error: { type, message, ...(details && { details }) } };
  return new Response(JSON.stringify(body), { status, headers: JSON_TYPE });
}

// --- what the API takes

/** What is wrong with the calls and results of a history, or undefined; messages of one role are one turn. */
function unpaired(history, paused) {
  const turns = [];
  let role;
  for (const message of history.filter((one) => one.role !== "system")) {
    if (message.role !== role) turns.push([]);
    role = message.role;
    turns.at(-1).push(...blocksOf(message.content));
  }
  for (const [place, blocks] of turns.entries()) {
    const wrong = wrongIn(blocks, turns[place - 1] ?? [], turns[place + 1] ?? [], paused);
    if (wrong) return `messages.${place}: ${wrong}`;
  }
}

function wrongIn(blocks, before, after, paused) {
  const ids = (some, type, key) => some.filter((block) => block.type === type).map((block) => block[key]);
  const calls = ids(blocks, "tool_use", "id");
  const results = ids(blocks, "tool_result", "tool_use_id");
  const answered = ids(after, "tool_result", "tool_use_id");
  const asked = ids(before, "tool_use", "id");
  if (new Set(calls).size < calls.length) return "`tool_use` ids must be unique";
  const lost = calls.find((id) => !answered.includes(id) && !paused.has(id));
  if (lost) return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${lost}`;
  const orphan = results.find((id) => !asked.includes(id));
  if (orphan) return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}`;
  if (new Set(results).size < results.length) return "each tool_use must have a single result";
  const kinds = blocks.map((block) => block.type === "tool_result");
  if (kinds.lastIndexOf(true) >= results.length) return "`tool_result` blocks must come first in their message";
}

// --- messages of the API and of the protocol

const blocksOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));

/** Messages of the API in the protocol's words: each `tool_result` block is a message. */
export function seen(history) {
  return history.flatMap(({ role, content }) => {
    const blocks = blocksOf(content);
    if (role === "system") return [{ role, text: JSON.stringify(blocks) }];
    const results = resultsSeen(blocks);
    const calls = blocks.filter((block) => block.type === "tool_use");
    const tool_calls = calls.map(({ id, name, input }) => ({ id, name, args: input }));
    const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    return text || calls.length || !results.length ? [...results, { role, text, tool_calls }] : results;
  });
}

/** The results among blocks as messages of the protocol. */
export function resultsSeen(blocks) {
  const results = blocks.filter((block) => block.type === "tool_result");
  return results.map(({ tool_use_id: call, content, is_error }) => {
    const text = blocksOf(content).map((part) => part.text ?? "").join("");
    return { role: "tool", call, text, status: is_error ? "error" : "ok" };
  });
}

/** Messages of the protocol as the user of the SDK writes them: results that follow each other are one. */
export function paramsOf(messages) {
  const params = [];
  let results = null;
  for (const { role, text = "", tool_calls = [], call, status } of messages) {
    if (role === "tool") {
      if (!results) params.push({ role: "user", content: (results = []) });
      const block = { type: "tool_result", tool_use_id: call, content: text };
      results.push(status === "error" ? { ...block, is_error: true } : block);
      continue;
    }
    results = null;
    const calls = tool_calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }));
    const blocks = [...(text ? [{ type: "text", text }] : []), ...calls];
    params.push({ role, content: role === "assistant" ? blocks : text });
  }
  return params;
}
