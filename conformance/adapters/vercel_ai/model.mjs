// A model for the AI SDK that asks the kit, and what it is asked, in the protocol's words.

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const STATUS = { "execution-denied": "cancelled", "error-text": "error", "error-json": "error" };

/** A model whose turns are the kit's; `before` is called when it is about to be asked. */
export function kitModel(host, before) {
  const doGenerate = async ({ prompt, abortSignal: signal }) => {
    before();
    const { text, tool_calls } = await host.infer(prompt.flatMap(seen), { signal });
    const content = tool_calls.map(({ id, name, args }) => {
      return { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) };
    });
    if (text) content.unshift({ type: "text", text });
    const finishReason = { unified: tool_calls.length ? "tool-calls" : "stop" };
    return { content, finishReason, usage: USAGE, warnings: [] };
  };
  const doStream = async (options) => {
    const { content, ...end } = await doGenerate(options);
    const parts = [{ type: "stream-start", warnings: [] }, ...content.flatMap(streamed), { type: "finish", ...end }];
    return { stream: ReadableStream.from(parts) };
  };
  return { specificationVersion: "v3", provider: "kit", modelId: "kit", supportedUrls: {}, doGenerate, doStream };
}

/** What a provider streams of a part of its answer: a text in one piece, the arguments of a call in two. */
function streamed(part, at) {
  if (part.type === "text") {
    const [id, delta] = [String(at), part.text];
    return [{ type: "text-start", id }, { type: "text-delta", id, delta }, { type: "text-end", id }];
  }
  const { toolCallId: id, toolName, input } = part;
  const pieces = [input.slice(0, 1), input.slice(1)].map((delta) => ({ type: "tool-input-delta", id, delta }));
  return [{ type: "tool-input-start", id, toolName }, ...pieces, { type: "tool-input-end", id }, part];
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
