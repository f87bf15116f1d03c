// What a user of the tool runner of `@anthropic-ai/sdk` does with it, in the protocol's words.

import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import { paramsOf, resultsSeen, seen } from "./endpoint.mjs";

/** A user; `runner`, `host`, `endpoint`, `versions` and `received` are set when a scenario is opened. */
export class User {
  receive(message) {
    [this.received] = seen([message]);
  }

  /** The pieces that the kit gave; what the whole turn adds to them belongs to its end. */
  async *pieces(stream) {
    let count = 0;
    for await (const event of stream) {
      const piece = pieceOf(event, stream.currentMessage ?? stream.receivedMessages.at(-1));
      if (piece && ++count <= this.endpoint.pieces) yield piece;
    }
    await stream.finalMessage();
  }

  push(messages) {
    this.runner.pushMessages(...paramsOf(messages));
  }

  set(messages, params) {
    const given = messages ? { messages: paramsOf(messages) } : {};
    this.runner.setMessagesParams((now) => ({ ...now, ...params, ...given }));
  }

  tools(add, remove) {
    if (remove.length) this.runner.removeTools(...remove);
    if (add.length) this.runner.addTools(...add.map((name) => this.defined(name)));
  }

  async respond() {
    const response = await this.runner.generateToolResponse();
    return response && resultsSeen(response.content);
  }

  last() {
    return this.received;
  }

  snapshot() {
    const { messages, model, tools, stream, max_iterations, ...params } = this.runner.params;
    return { messages: seen(messages), params };
  }

  /** A definition of a tool; each one of a name is a version of its own. */
  defined(name) {
    const version = (this.versions[name] = (this.versions[name] ?? 0) + 1);
    const run = async (args, { toolUse }) => {
      const answer = await this.host.tool(toolUse.id, name, args, { version });
      if (answer.kind === "error") throw new ToolError(String(answer.content));
      return answer.content ?? "";
    };
    return { name, description: name, input_schema: { type: "object" }, run };
  }
}

function pieceOf(event, message) {
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") return { text: event.delta.text };
  if (event.type !== "content_block_stop") return null;
  const block = message.content[event.index];
  if (block.type !== "tool_use") return null;
  return { tool_call: { id: block.id, name: block.name, args: block.input } };
}
