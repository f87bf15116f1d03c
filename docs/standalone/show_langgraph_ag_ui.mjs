// What the bridge of LangGraph for Node to AG-UI does, in front of the development server of LangGraph.
//
//     npm install @ag-ui/langgraph@0.0.43 @ag-ui/client@1.0.0 langchain@1.5.14 node@22.23.3 \
//       @langchain/{langgraph@1.7.3,langgraph-api@1.5.1,langgraph-checkpoint@1.2.2,core@1.4.0}
//     node --input-type=module - [NAME] < show_langgraph_ag_ui.mjs

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { startServer } from "@langchain/langgraph-api/server";

const GRAPH = `
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";

function model({ messages }) {
  if (messages.at(-1).content === "break") throw new Error("the model broke");
  return { messages: [new AIMessage("done")] };
}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addEdge("__start__", "model")
  .compile();
`;

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

const cwd = mkdtempSync(`${process.cwd()}/graph-`);
process.on("exit", () => rmSync(cwd, { recursive: true }));
writeFileSync(`${cwd}/graph.mjs`, GRAPH);
const graphs = { agent: `${cwd}/graph.mjs:graph` };
const { host } = await startServer({ port: 0, nWorkers: 1, host: "127.0.0.1", cwd, graphs });

/** Sends a request on a thread of its own; gives its events, or the error with which it ended. */
async function request(runId, content) {
  const agent = new LangGraphAgent({ deploymentUrl: `http://${host}`, graphId: "agent" });
  const messages = [{ id: "u1", role: "user", content }];
  const fixed = { tools: [], context: [], state: {}, forwardedProps: {} };
  const running = agent.run({ threadId: crypto.randomUUID(), runId, messages, ...fixed });
  const events = [];
  const failed = await new Promise((complete) => {
    running.subscribe({ next: (event) => events.push(event), error: complete, complete: () => complete() });
  });
  return { events, failed };
}

async function endsUnderAnotherId() {
  about(
    "A run ends under another id than the one with which it began.",
    "RUN_FINISHED has the run id of RUN_STARTED, which is that of the request.",
    "a client that waits for the end of its run sees the end of one that it does not know.",
  );
  const { events } = await request("my-run", "hello");
  const [began, ended] = [events[0], events.at(-1)];
  console.log("actual:", began.type, began.runId, "and then", ended.type, ended.runId);
  return ended.type === "RUN_FINISHED" && ended.runId !== began.runId;
}

async function failureIsASuccess() {
  about(
    "The model breaks, and the run ends as a success.",
    "RUN_ERROR, with what went wrong.",
    "the user is shown an empty answer, and no one is told that the run failed.",
  );
  const { events, failed } = await request("my-run", "break");
  console.log("actual: the run ends with", events.at(-1).type, failed?.message ?? "");
  return events.at(-1).type === "RUN_FINISHED" && !failed;
}

const programs = { endsUnderAnotherId, failureIsASuccess };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
