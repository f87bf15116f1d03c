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
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";

const read = tool(() => "what it says", { name: "read", description: "reads", schema: { type: "object" } });
const fail = tool(
  () => {
    throw new Error("the disk is full");
  },
  { name: "fail", description: "fails", schema: { type: "object" } },
);

/** Breaks, or asks for a tool by the name that the user says, and is done when that has answered. */
function model({ messages }) {
  globalThis.asked = (globalThis.asked ?? 0) + 1;
  const said = messages.at(-1);
  if (said.content === "break") throw new Error("the model broke");
  const isAsking = said.getType() === "human" && ["read", "fail"].includes(said.content);
  const calls = isAsking ? [{ id: "c1", name: said.content, args: {} }] : [];
  return { messages: [new AIMessage({ content: isAsking ? "" : "done", tool_calls: calls })] };
}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("tools", new ToolNode([read, fail]))
  .addEdge("__start__", "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
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

/** Sends a request, on a thread of its own; gives its events, or the error with which it ended. */
async function request(runId, content, { threadId = crypto.randomUUID(), ...more } = {}) {
  const agent = new LangGraphAgent({ deploymentUrl: `http://${host}`, graphId: "agent" });
  const messages = [{ id: "u1", role: "user", content }];
  const fixed = { tools: [], context: [], state: {}, forwardedProps: {} };
  const running = agent.run({ threadId, runId, messages, ...fixed, ...more });
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

async function answerToNothingAsksTheModel() {
  about(
    "A run ended as its model broke. An answer to an interrupt that does not exist asks the model again.",
    "the answer is refused, and the model is not asked.",
    "an answer that comes late, or twice, runs the thread on, which no one has asked for.",
  );
  const threadId = crypto.randomUUID();
  await request("r1", "break", { threadId });
  const before = globalThis.asked;
  const resume = [{ interruptId: "no-such-interrupt", status: "resolved", payload: {} }];
  await request("r2", "break", { threadId, resume });
  console.log("actual: the model was asked", globalThis.asked - before, "times more");
  return globalThis.asked > before;
}

async function failureHasNoResult() {
  about(
    "A tool fails, the model is told so, and the stream has no result of the call.",
    "TOOL_CALL_RESULT, with what the tool said.",
    "the client shows a call that never ends, and says in its next request that the call has no result.",
  );
  const told = async (name) => (await request("my-run", name)).events.map(({ type }) => type);
  const [right, wrong] = [await told("read"), await told("fail")];
  console.log("actual: for a tool that answers:", right.filter((type) => type.startsWith("TOOL")));
  console.log("actual: for one that fails:", wrong.filter((type) => type.startsWith("TOOL")));
  return right.includes("TOOL_CALL_RESULT") && !wrong.includes("TOOL_CALL_RESULT");
}

const programs = {
  endsUnderAnotherId,
  failureIsASuccess,
  answerToNothingAsksTheModel,
  failureHasNoResult,
};
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
