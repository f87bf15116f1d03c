// A model for @openai/agents that asks the kit, and what it is asked, in the protocol's words.

import { Usage } from "@openai/agents";
import { unlessAborted } from "./runlock.mjs";

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model whose turns are the kit's, each one event of a stream; `here` gives the host of the run that asks. */
export function kitModel(here) {
  const output = async ({ input, signal }) => {
    const { text, tool_calls } = await unlessAborted(signal, here().infer(seen(input), { signal }));
    return [...(text ? [said(text)] : []), ...tool_calls.map(functionCall)];
  };
  const getResponse = async (request) => ({ usage: new Usage(USAGE), output: await output(request) });
  const getStreamedResponse = async function* (request) {
    yield { type: "response_done", response: { id: "answer", usage: USAGE, output: await output(request) } };
  };
  return { getResponse, getStreamedResponse };
}

/** A call as the library has it. */
export function functionCall({ id, name, args }) {
  const about = { id: `fc_${id}`, callId: id, name, arguments: JSON.stringify(args ?? {}) };
  return { type: "function_call", status: "completed", ...about };
}

function said(text) {
  const content = [{ type: "output_text", text }];
  return { type: "message", role: "assistant", status: "completed", content };
}

/** What the model receives, in the protocol's words: the calls of one turn stand together. */
function seen(input) {
  const messages = [];
  let calls = null; // of the turn that is being read
  for (const item of input) {
    if (item.type !== "function_call") {
      calls = null;
      messages.push(other(item));
      continue;
    }
    if (!calls) messages.push({ role: "assistant", text: "", tool_calls: (calls = []) });
    calls.push({ id: item.callId, name: item.name, args: JSON.parse(item.arguments) });
  }
  return messages;
}

function other({ type, role, callId: call, output, content }) {
  if (type === "function_call_result") return { role: "tool", call, text: textOf(output) };
  return { role, text: textOf(content) };
}

function textOf(said) {
  return typeof said === "string" ? said : [said].flat().map((part) => part.text ?? "").join("");
}
