// What the bridge of Mastra to AG-UI does, with a scripted model.
//
//     npm install @ag-ui/mastra@1.1.2 @ag-ui/client@1.0.0 @mastra/client-js@1.47.0 @mastra/core@1.71.0 \\
//       node@22.23.3
//     node --input-type=module - [NAME] < show_mastra_ag_ui.mjs

import { MastraAgent } from "@ag-ui/mastra";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

/** Streams its turns one after the other: a text, or the ids of calls of `write`. */
function scripted(turns) {
  const doStream = async () => {
    const turn = turns.shift();
    const asked = typeof turn === "string" ? [] : turn;
    const call = { type: "tool-call", toolName: "write", input: "{}" };
    const calls = asked.map((toolCallId) => ({ ...call, toolCallId }));
    const said = ["start", "delta", "end"].map((part) => ({ type: `text-${part}`, id: "t", delta: turn }));
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const finishReason = { unified: asked.length ? "tool-calls" : "stop" };
    const parts = [...(asked.length ? calls : said), { type: "finish", finishReason, usage }];
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts]) };
  };
  return { specificationVersion: "v3", provider: "script", modelId: "script", supportedUrls: {}, doStream };
}

/** A thread with a tool that suspends until it is resumed; `ran` gets the calls that are executed. */
function thread(turns) {
  const ran = [];
  const write = createTool({
    id: "write",
    description: "writes",
    inputSchema: z.object({}),
    suspendSchema: z.object({}),
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: async (_, { agent: { resumeData, suspend, toolCallId } }) => {
      if (!resumeData) return suspend({});
      if (resumeData.approved) ran.push(toolCallId);
      return "done";
    },
  });
  const agent = new Agent({ id: "a", name: "a", instructions: "", model: scripted(turns), tools: { write } });
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  const request = async (runId, more) => {
    const user = { id: "u1", role: "user", content: "write both" };
    const input = { threadId: "t", runId, messages: [user], tools: [], context: [], state: {}, ...more };
    const events = [];
    const running = new MastraAgent({ agent, resourceId: "user" }).run(input);
    await new Promise((complete, error) => {
      running.subscribe({ next: (event) => events.push(event), error, complete });
    });
    return events;
  };
  return { ran, request };
}

async function callIsNotStreamed() {
  about(
    "A call waits: the stream asks about it, and has not opened it.",
    "TOOL_CALL_START, TOOL_CALL_ARGS and TOOL_CALL_END before the run ends with its interrupt.",
    "the client keeps no message with the call, so that its result has none, and a person is shown none.",
  );
  const { request } = thread([["c1"]]);
  const events = await request("r1");
  console.log("actual: the events are", events.map(({ type }) => type));
  const isStreamed = events.some(({ type }) => type === "TOOL_CALL_START");
  return events.at(-1).outcome?.type === "interrupt" && !isStreamed;
}

const programs = { callIsNotStreamed };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
