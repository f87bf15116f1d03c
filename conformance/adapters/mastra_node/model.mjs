// A model for Mastra, in the AI SDK's form, that asks the kit, and what it is asked, in the protocol's words.

import { unlessAborted } from "./runlock.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model whose turns are the kit's. */
export function kitModel(host) {
  const doGenerate = async ({ prompt, abortSignal: signal }) => {
    const { text, tool_calls } = await unlessAborted(signal, host.infer(prompt.flatMap(seen), { signal }));
    const content = tool_calls.map(({ id, name, args }) => {
      return { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) };
    });
    if (text) content.unshift({ type: "text", text });
    const finishReason = { unified: tool_calls.length ? "tool-calls" : "stop" };
    return { content, finishReason, usage: USAGE, warnings: [] };
  };
  return { specificationVersion: "v3", provider: "kit", modelId: "kit", supportedUrls: {}, doGenerate };
}

/** What the model receives, in the protocol's words; a call that was declined has a text like any other. */
function seen({ role, content }) {
  const parts = (type) => content.filter((part) => part.type === type);
  if (role === "tool") {
    return parts("tool-result").map(({ toolCallId: call, output: { type, value } }) => {
      return { role, call, text: String(value), ...(type.startsWith("error") && { status: "error" }) };
    });
  }
  const asked = parts("tool-call");
  const calls = asked.map(({ toolCallId: id, toolName: name, input: args }) => ({ id, name, args }));
  const text = parts("text").map((part) => part.text).join("");
  return [{ role, text, ...(calls.length && { tool_calls: calls }) }];
}
