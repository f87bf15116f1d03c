// An agent of Mastra behind AG-UI, whose tool `write` suspends until a person has answered.

import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { EventEncoder } from "@ag-ui/encoder";
import { MastraAgent } from "@ag-ui/mastra";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { MCPClient } from "@mastra/mcp";
import { Memory } from "@mastra/memory";
import { z } from "zod";

const { OPENAI_BASE_URL, OPENAI_API_KEY, PORT, RUNLOCK_DATA, RUNLOCK_MCP_URL } = process.env;
const offered = await new MCPClient({ servers: { kit: { url: new URL(RUNLOCK_MCP_URL) } } }).listTools();
const write = createTool({
  id: "write",
  description: "Write.",
  inputSchema: offered.kit_write.inputSchema,
  suspendSchema: z.object({}),
  resumeSchema: z.object({ approved: z.boolean() }),
  execute: async (args, context) => {
    const { resumeData, suspend } = context.agent;
    if (!resumeData) return suspend({});
    return resumeData.approved ? offered.kit_write.execute(args, context) : "The user rejected this call.";
  },
});
const storage = new LibSQLStore({ id: "store", url: `file:${RUNLOCK_DATA ?? "."}/mastra.db` });
const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "",
  model: createOpenAICompatible({ name: "kit", baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })("any"),
  tools: { write, read: offered.kit_read },
  memory: new Memory({ storage, options: { lastMessages: 1_000 } }), // instead of the last 10
});
new Mastra({ agents: { agent }, storage, logger: false });

const encoder = new EventEncoder();
createServer(async (request, response) => {
  const input = await json(request);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const running = new MastraAgent({ agent, resourceId: "user" }).run(input).subscribe({
    next: (event) => response.write(encoder.encodeSSE(event)),
    error: ({ message }) => response.end(encoder.encodeSSE({ type: "RUN_ERROR", message })),
    complete: () => response.end(),
  });
  response.on("close", () => running.unsubscribe());
}).listen(Number(PORT), "127.0.0.1");
