// An agent of LangChain, with the middleware that asks a person before `write`.

import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, humanInTheLoopMiddleware } from "langchain";

const kit = { transport: "http", url: process.env.RUNLOCK_MCP_URL };
export const graph = createAgent({
  model: new ChatOpenAI({ model: "any", streamUsage: false }),
  tools: await new MultiServerMCPClient({ mcpServers: { kit } }).getTools(),
  middleware: [humanInTheLoopMiddleware({ interruptOn: { write: true } })],
});
