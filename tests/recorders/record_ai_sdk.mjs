// Records the UI message stream of the AI SDK, both directions, offline, with scripted models.
//
// It needs the packages ai and zod, next to this file or in a folder above it:
//
//     node tests/recorders/record_ai_sdk.mjs tests/data/recordings/ai_sdk

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { convertToModelMessages, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { z } from "zod";

const folder = process.argv[2];
const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

// A model that streams these turns, one after the other: a text, or calls as [id, name, input].
function scripted(...turns) {
  return new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunksOf(turns.shift()) }) }),
  });
}

function chunksOf(turn) {
  const end = (unified) => ({ type: "finish", finishReason: { unified, raw: unified }, usage });
  if (typeof turn === "string")
    return [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: turn },
      { type: "text-end", id: "t" },
      end("stop"),
    ];
  const calls = turn.map(([toolCallId, toolName, input]) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  }));
  return [...calls, end("tool-calls")];
}

const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `${city}: 20 degrees`,
  }),
  flaky: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async () => {
      throw new Error("no such city");
    },
  }),
  remove: tool({
    inputSchema: z.object({ file: z.string() }),
    execute: async ({ file }) => `${file} is deleted`,
  }),
};

class Client {
  constructor(name, model) {
    this.file = `${folder}/${name}.jsonl`;
    Object.assign(this, { id: name, model, messages: [] });
    mkdirSync(folder, { recursive: true });
    writeFileSync(this.file, "");
  }

  say(text) {
    this.messages.push({ id: `u${this.messages.length}`, role: "user", parts: [{ type: "text", text }] });
    return this.send("submit-message");
  }

  // What `addToolApprovalResponse` does to the last message, for each call that waits.
  decide(decisions) {
    for (const part of this.messages.at(-1).parts)
      if (part.state === "approval-requested")
        Object.assign(part, {
          state: "approval-responded",
          approval: { ...part.approval, approved: decisions[part.toolCallId] },
        });
    return this.send("submit-message");
  }

  async send(trigger) {
    this.write({ id: this.id, messages: this.messages, trigger });
    const result = streamText({
      model: this.model,
      tools,
      toolApproval: { remove: "user-approval" },
      messages: await convertToModelMessages(this.messages),
      stopWhen: stepCountIs(5),
    });
    const last = this.messages.at(-1);
    const stream = result.toUIMessageStream({ originalMessages: this.messages, onError: (e) => e.message });
    const [seen, kept] = stream.tee();
    const reading = this.keep(kept, last.role === "assistant" ? last : undefined);
    for await (const chunk of seen) this.write(chunk);
    await reading;
  }

  async keep(stream, message) {
    let newest;
    for await (const one of readUIMessageStream({ stream, message })) newest = one;
    if (message) this.messages.pop();
    this.messages.push(newest);
  }

  write(record) {
    appendFileSync(this.file, JSON.stringify(record) + "\n");
  }
}

const plain = new Client(
  "plain",
  scripted(
    [["c1", "weather", { city: "Oslo" }], ["c2", "weather", { city: "Rome" }]],
    "Oslo and Rome: 20 degrees each.",
    [["c3", "weather", { city: "Lima" }]],
    "Lima: 20 degrees.",
  ),
);
await plain.say("How is the weather in Oslo and Rome?");
await plain.say("And in Lima?");

const failing = new Client(
  "failing",
  scripted([["c1", "flaky", { city: "Oslo" }], ["c2", "weather", { city: "Rome" }]], "Only Rome is known."),
);
await failing.say("Find Oslo and Rome.");

const approved = new Client(
  "approved",
  scripted([["c1", "remove", { file: "a.txt" }], ["c2", "remove", { file: "b.txt" }]], "a.txt is deleted, b.txt is kept."),
);
await approved.say("Delete a.txt and b.txt.");
await approved.decide({ c1: true, c2: false });
