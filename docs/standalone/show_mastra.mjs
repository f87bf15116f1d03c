// What Mastra does, with a scripted model.
//
//     npm install @mastra/core@1.71.0 @mastra/libsql@1.23.1 @mastra/memory@1.31.0 node@22.23.3 zod@4.6.7
//     node --input-type=module - [NAME] < show_mastra.mjs

import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { z } from "zod";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

/** Gives its turns one after the other, a text or the ids and names of calls; `shown` is what it was sent. */
function scripted(turns, shown) {
  const doGenerate = async ({ prompt }) => {
    shown.splice(0, shown.length, ...prompt.flatMap(inShort));
    const turn = turns.shift();
    const asked = typeof turn === "string" ? [] : turn;
    const content = asked.map(([id, name]) => {
      const input = name === "agent-helper" ? '{"prompt":"help"}' : "{}";
      return { type: "tool-call", toolCallId: id, toolName: name, input };
    });
    if (!asked.length) content.push({ type: "text", text: turn });
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    return { content, finishReason: { unified: asked.length ? "tool-calls" : "stop" }, usage, warnings: [] };
  };
  return { specificationVersion: "v3", provider: "script", modelId: "script", supportedUrls: {}, doGenerate };
}

/** A message that a model is shown, in few words. */
function inShort({ role, content }) {
  return content.map((part) => {
    if (part.type === "tool-result") return `result of ${part.toolCallId}: ${part.output.value}`;
    return part.type === "tool-call" ? `call ${part.toolCallId}` : `${role}: ${part.text}`;
  });
}

/** Two tools, one of which asks before it writes; `ran` gets the calls that are executed. */
function makeTools(ran, before) {
  const execute = async (_, { abortSignal, agent }) => {
    ran.push(agent.toolCallId);
    before();
    abortSignal?.throwIfAborted();
    return `done as number ${ran.length}`;
  };
  return Object.fromEntries(["read", "write"].map((id) => {
    const about = { id, description: id, inputSchema: z.object({}) };
    return [id, createTool({ ...about, requireApproval: id === "write", execute })];
  }));
}

/** A thread of an agent with these tools, or with a subagent that has them, where `within` has the turns of that. */
function thread(turns, before = () => {}, within = null) {
  const ran = [];
  const shown = [];
  const tools = makeTools(ran, before);
  const about = { instructions: "", description: "helps" };
  const helper = within && new Agent({ id: "helper", name: "helper", ...about, tools, model: scripted(within, []) });
  const offered = helper ? { agents: { helper } } : { tools };
  const storage = new InMemoryStore();
  const memory = new Memory({ storage });
  const model = scripted(turns, shown);
  const agent = new Agent({ id: "a", name: "a", ...about, model, ...offered, memory });
  new Mastra({ agents: { agent, ...offered.agents }, storage, logger: false });
  const how = { memory: { thread: "thread", resource: "user" } };
  const say = (text, more) => agent.generate(text, { ...how, ...more });
  const approve = (runId, toolCallId, more) => {
    return agent.approveToolCallGenerate({ ...how, runId, toolCallId, ...more });
  };
  return { ran, shown, say, approve };
}

async function cancelDuringAnApproval() {
  about(
    "A cancel while an approved call runs: the run goes on to wait for the next call.",
    "the run ends as aborted, and nothing of it can be approved.",
    "a user who has stopped the run is asked for more, and the model is not shown the call that was stopped.",
  );
  const stop = new AbortController();
  const turns = [[["c1", "write"], ["c2", "write"]], "done"];
  const { ran, shown, say, approve } = thread(turns, () => stop.abort());
  const { runId } = await say("write both");
  const end = await approve(runId, "c1", { abortSignal: stop.signal });
  console.log("actual: c1 is approved, and the run aborted:", end.finishReason, end.suspendPayload?.toolCallId);
  await approve(runId, "c2");
  console.log("actual: c2 is approved; these ran:", ran, "and the model is shown:", shown);
  return end.finishReason === "suspended" && !shown.includes("call c1");
}

async function resultOfASibling() {
  about(
    "A call that waits hides its turn: who goes on with the thread is answered without what its siblings did.",
    "the model is shown what c1 did.",
    "the model does it again, or says that it was not done.",
  );
  const { ran, shown, say } = thread([[["c1", "read"], ["c2", "write"]], "never minded"]);
  await say("read and write");
  await say("never mind");
  console.log("actual: these ran:", ran, "and the model is shown:", shown);
  return ran.length === 1 && !shown.includes("call c1");
}

async function resultOfAnEarlierRun() {
  about(
    "An approved call with the id of one in an earlier run: the model is shown the result of the earlier one.",
    "the result of each call.",
    "the model works with an outdated result where ids of calls are not unique over runs.",
  );
  const { shown, say, approve } = thread([[["c1", "write"]], "done", [["c1", "write"]], "done"]);
  for (const text of ["write it", "write it again"]) {
    const { runId } = await say(text);
    await approve(runId, "c1");
  }
  console.log("actual: the model is shown:", shown);
  return shown.filter((one) => one === "result of c1: done as number 1").length === 2;
}

async function functionIsForgotten() {
  about(
    "A function says which calls need approval: once a call is approved, it is not asked any more.",
    "the run waits for the approval of c2 as well, as it does where `requireToolApproval` is true.",
    "whoever approves one call lets all later calls of the run through.",
  );
  const { ran, say, approve } = thread([[["c1", "read"]], [["c2", "read"]], "done"]);
  const questions = [];
  const requireToolApproval = ({ toolName }) => questions.push(toolName) > 0;
  const { runId } = await say("read twice", { requireToolApproval });
  const end = await approve(runId, "c1");
  console.log("actual: c1 is approved, and the end is:", end.finishReason, "these were executed:", ran);
  console.log("actual: the function was asked this often:", questions.length);
  return ran.join() === "c1,c2" && questions.length === 1;
}

async function runsAfterACancel() {
  about(
    "A cancel while the function decides whether a call needs approval: the tool is executed all the same.",
    "no tool is executed after the run was cancelled.",
    "a user who has stopped the run in time finds that the tool did its work.",
  );
  const stop = new AbortController();
  const { ran, say } = thread([[["c1", "read"], ["c2", "read"]], "done"]);
  const requireToolApproval = async () => (stop.abort(), false); // the user cancels just now
  const end = await say("read twice", { requireToolApproval, abortSignal: stop.signal });
  console.log("actual: the end is:", end.finishReason, "and these were executed after the cancel:", ran);
  return ran.length > 0;
}

async function approvedTwiceAtOnce() {
  about(
    "Two approvals of one call that come at the same time, as of a double click: the tool is executed twice.",
    "one of them is taken, and the other is turned down, as it is where it comes later.",
    "what was approved once is done twice, for example a payment.",
  );
  const { ran, say, approve } = thread([[["c1", "write"]], "done", "done"]);
  const { runId } = await say("write it");
  const ends = await Promise.all([approve(runId, "c1"), approve(runId, "c1")]);
  console.log("actual: both approvals end:", ends.map((end) => end.finishReason), "and these ran:", ran);
  return ran.join() === "c1,c1";
}

async function inputIsForgotten() {
  about(
    "What the user says while a call waits is not shown to the model once the call is approved.",
    "the model is shown what was said meanwhile, and what it answered.",
    "it goes on without what the user said last, for example that something is not to be done.",
  );
  const { shown, say, approve } = thread([[["c1", "write"]], "I leave it out", "done"]);
  const { runId } = await say("write it");
  await say("leave out the last line");
  await approve(runId, "c1");
  console.log("actual: c1 is approved, and the model is shown:", shown);
  return shown.length > 0 && !shown.includes("user: leave out the last line");
}

async function lateApprovalOfASubagentsCall() {
  about(
    "A subagent asks for two calls: an approval of the first that comes twice approves the second.",
    "the late approval is turned down, as it is where the agent asks for the calls itself.",
    "a call is executed that was never approved, and perhaps not even seen.",
  );
  const within = [[["c2", "write"], ["c3", "write"]], "done"];
  const { ran, say, approve } = thread([[["c1", "agent-helper"]], "done"], () => {}, within);
  const { runId, suspendPayload: first } = await say("write both");
  console.log("actual: what is to be approved:", first.toolCallId, first.suspendPayload.toolCallId);
  const { suspendPayload: second } = await approve(runId, first.toolCallId);
  console.log("actual: c2 is approved; what is to be approved:", second.toolCallId, second.suspendPayload.toolCallId);
  await approve(runId, first.toolCallId);
  console.log("actual: c2 is approved once more, and these ran:", ran);
  return ran.includes("c3");
}

const programs = {
  cancelDuringAnApproval, resultOfASibling, resultOfAnEarlierRun, functionIsForgotten, runsAfterACancel,
  approvedTwiceAtOnce, inputIsForgotten, lateApprovalOfASubagentsCall,
};
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
