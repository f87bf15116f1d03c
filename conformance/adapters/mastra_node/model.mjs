// A model for Mastra, in the AI SDK's form, that asks the kit, and what it is asked, in the protocol's words.

import { unlessAborted } from "./runlock.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

export const SUBAGENT = "agent-"; // what the tool of a subagent is called, in front of its name

/** A model whose turns are the kit's; it calls `agents` by the names and with the arguments that Mastra has. */
export function kitModel(host, agents = []) {
  const doGenerate = async ({ prompt, abortSignal: signal }) => {
    const { text, tool_calls } = await unlessAborted(signal, host.infer(prompt.flatMap(seen), { signal }));
    const content = tool_calls.map(({ id: toolCallId, name, args }) => {
      const isAgent = agents.includes(name);
      const input = isAgent ? { ...args, prompt: String(args.v) } : args;
      const toolName = isAgent ? SUBAGENT + name : name;
      return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) };
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
  const calls = parts("tool-call").map(asked);
  const text = parts("text").map((part) => part.text).join("");
  return [{ role, text, ...(calls.length && { tool_calls: calls }) }];
}

function asked({ toolCallId: id, toolName: name, input: args }) {
  if (!name.startsWith(SUBAGENT)) return { id, name, args };
  const { prompt: _, ...given } = args;
  return { id, name: name.slice(SUBAGENT.length), args: given };
}
