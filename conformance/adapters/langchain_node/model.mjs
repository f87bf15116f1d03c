// A chat model for LangChain that asks the kit, and what it is asked, in the protocol's words.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { unlessAborted } from "./runlock.mjs";

/** A model whose turns are the kit's. */
export class KitModel extends BaseChatModel {
  constructor(host) {
    super({});
    this.host = host;
  }

  _llmType() {
    return "kit";
  }

  bindTools() {
    return this;
  }

  async _generate(messages, { signal }) {
    const { text, tool_calls } = await unlessAborted(signal, this.host.infer(messages.map(seen), { signal }));
    const calls = tool_calls.map((call) => ({ type: "tool_call", ...call }));
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] };
  }
}

/** What the model receives, in the protocol's words. */
function seen(message) {
  const text = String(message.content);
  if (message.type === "human") return { role: "user", text };
  if (message.type === "tool") {
    const status = message.status === "error" ? "error" : "ok";
    return { role: "tool", call: message.tool_call_id, text, status };
  }
  const calls = message.tool_calls.map(({ id, name, args }) => ({ id, name, args }));
  return { role: "assistant", text, ...(calls.length && { tool_calls: calls }) };
}
