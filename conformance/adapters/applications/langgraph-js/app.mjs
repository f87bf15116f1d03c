// The development server of LangGraph, and in front of it the bridge to AG-UI.

import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { EventEncoder } from "@ag-ui/encoder";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { startServer } from "@langchain/langgraph-api/server";

const cwd = process.env.RUNLOCK_DATA ?? process.cwd();
const graphs = { agent: `${import.meta.dirname}/graph.mjs:graph` };
const { host } = await startServer({ port: 0, nWorkers: 10, host: "127.0.0.1", cwd, graphs });
const deploymentUrl = `http://${host}`;
const agent = new LangGraphAgent({ deploymentUrl, graphId: "agent", emitInterruptOutcome: true });

const encoder = new EventEncoder();
createServer(async (request, response) => {
  const input = await json(request);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const running = agent.clone().run(input).subscribe({
    next: (event) => response.write(encoder.encodeSSE(event)),
    error: ({ message }) => response.end(encoder.encodeSSE({ type: "RUN_ERROR", message })),
    complete: () => response.end(),
  });
  response.on("close", () => running.unsubscribe());
}).listen(Number(process.env.PORT), "127.0.0.1");
