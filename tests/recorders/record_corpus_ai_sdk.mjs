// Records the lists of messages of the AI SDK, offline, with a scripted model.
//
// It needs the packages ai 7 and zod, next to this file or in a folder above it:
//
//     python tests/recorders/scenarios.py | node tests/recorders/record_corpus_ai_sdk.mjs tests/data/corpus

import { readFileSync, writeFileSync } from "node:fs";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

const folder = process.argv[2];
const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

// What the model generates in a turn: a text and calls.
function generated({ text, calls }) {
  const unified = calls.length ? "tool-calls" : "stop";
  const content = calls.map(([toolName, toolCallId, input]) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  }));
  if (text) content.unshift({ type: "text", text });
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
}

const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string(), unit: z.string().default("C") }),
    execute: async ({ city, unit }) => `${city}: 20 degrees ${unit}`,
  }),
  clock: tool({ inputSchema: z.object({}), execute: async () => "noon" }),
  fails: tool({
    inputSchema: z.object({}),
    execute: async () => {
      throw new Error("the service is down");
    },
  }),
};

for (const [name, runs] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const turns = runs.flatMap(([, script]) => script);
  const model = new MockLanguageModelV4({ doGenerate: async () => generated(turns.shift()) });
  const messages = [];
  for (const [text] of runs) {
    messages.push({ role: "user", content: text });
    const done = await generateText({ model, tools, messages, stopWhen: stepCountIs(9) });
    messages.push(...done.responseMessages);
  }
  writeFileSync(`${folder}/vercel-${name}.messages.json`, JSON.stringify(messages));
}
