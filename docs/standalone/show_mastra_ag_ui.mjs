// What the bridge of Mastra to AG-UI does, with a scripted model.
//
//     npm install @ag-ui/mastra@1.1.2 @ag-ui/client@1.0.0 @mastra/client-js@1.47.0 @mastra/core@1.71.0 \\
//       @mastra/memory@1.31.0 @ai-sdk/openai-compatible@2.0.92 zod@4.6.7 node@22.23.3
//     node --input-type=module - [NAME] < show_mastra_ag_ui.mjs

import { MastraAgent } from "@ag-ui/mastra";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
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

/** A model that streams its turns: a text, or ids of calls, of `write` if no tool is named; or it fails. */
function scripted(turns, shown) {
  const answer = async (url, { body }) => {
    shown.splice(0, shown.length, ...JSON.parse(body).messages);
    const turn = turns.shift();
    if (turn instanceof Error) return Response.json({ error: { message: turn.message } }, { status: 400 });
    const calls = (typeof turn === "string" ? [] : turn).map((one, index) => {
      const [id, name = "write"] = one.split(" ");
      return { index, id, type: "function", function: { name, arguments: "{}" } };
    });
    const delta = calls.length ? { tool_calls: calls } : { content: turn };
    const choices = [
      { index: 0, delta: { role: "assistant", ...delta }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: calls.length ? "tool_calls" : "stop" },
    ];
    const head = { id: crypto.randomUUID(), object: "chat.completion.chunk", created: 1, model: "any" };
    const lines = [...choices.map((one) => JSON.stringify({ ...head, choices: [one] })), "[DONE]"];
    const text = lines.map((line) => `data: ${line}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  return createOpenAICompatible({ name: "script", baseURL: "http://script", fetch: answer })("any");
}

/** An agent with a tool that suspends until it is resumed, and others that read, wait and fail. */
function served(turns) {
  const [ran, shown] = [[], []]; // the calls of `write` that were executed, and what the model was shown last
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
  const read = createTool({
    id: "read",
    description: "reads",
    inputSchema: z.object({}),
    execute: async () => "what it says",
  });
  const slow = { state: "has not begun" };
  const wait = new Promise((end) => Object.assign(slow, { end }));
  const slowly = createTool({
    id: "slow",
    description: "waits",
    inputSchema: z.object({}),
    execute: async () => {
      slow.state = "runs";
      await wait;
      return "done";
    },
  });
  const fail = createTool({
    id: "fail",
    description: "fails",
    inputSchema: z.object({}),
    execute: async () => {
      throw new Error("the disk is full");
    },
  });
  const storage = new InMemoryStore();
  const model = scripted(turns, shown);
  const memory = new Memory({ storage });
  const tools = { write, read, fail, slow: slowly };
  const agent = new Agent({ id: "a", name: "a", instructions: "", model, tools, memory });
  new Mastra({ agents: { agent }, storage, logger: false });
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
  return { ran, shown, turns, slow, request };
}

async function callIsNotStreamed() {
  about(
    "A call waits: the stream asks about it, and has not opened it.",
    "TOOL_CALL_START, TOOL_CALL_ARGS and TOOL_CALL_END before the run ends with its interrupt.",
    "the client keeps no message with the call, so that its result has none, and a person is shown none.",
  );
  const { request } = served([["c1"]]);
  const events = await request("r1");
  console.log("actual: the events are", events.map(({ type }) => type));
  const isStreamed = events.some(({ type }) => type === "TOOL_CALL_START");
  return events.at(-1).outcome?.type === "interrupt" && !isStreamed;
}

async function answerOfAnotherThread() {
  about(
    "A call waits in one thread. A request of another thread answers its interrupt, and the call runs.",
    "the answer is refused: nothing waits in that thread.",
    "who knows the id of an interrupt approves calls in the threads of other users.",
  );
  const { ran, request } = served([["c1"], "done"]);
  const { outcome } = (await request("r1")).at(-1);
  const [{ id }] = outcome.interrupts;
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }];
  await request("r2", { threadId: "of someone else", messages: [], resume }).catch(() => {});
  console.log("actual: these ran:", ran);
  return ran.length === 1;
}

async function askedAgainWithoutAnAnswer() {
  about(
    "A call waits, and a request brings neither an answer nor a new message: the model is asked at once.",
    "the run ends, and the call still waits.",
    "a page that is loaded again sends what the user said a second time, with a second answer.",
  );
  const { turns, request } = served([["c1"], "done"]);
  await request("r1");
  await request("r2");
  console.log("actual: turns of the model that are left:", turns.length);
  return turns.length === 0;
}

async function failureHasNoResult() {
  about(
    "A tool fails, the model is told so, and the stream has no result of the call.",
    "TOOL_CALL_RESULT, with what the tool said.",
    "the client shows a call that never ends, and says in its next request that the call has no result.",
  );
  const { shown, request } = served([["c1 fail"], "done"]);
  const events = await request("r1");
  console.log("actual: the model is shown:", shown.at(-1));
  console.log("actual: the events are", events.map(({ type }) => type));
  return !events.some(({ type }) => type === "TOOL_CALL_RESULT") && events.at(-1).type === "RUN_FINISHED";
}

async function repeatedIdEndsTheThread() {
  about(
    "A call fails, and a later turn uses its id: the stream opens it again, without a result of the first.",
    "a result of the first, or an id of its own for the second.",
    "a client joins the arguments of both, as the protocol has it, and each later message ends in an error.",
  );
  const { turns, request } = served([["c1 fail"], ["c1 read"], "done", "done"]);
  const events = await request("r1");
  const written = events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta);
  const call = { id: "c1", type: "function", function: { name: "read", arguments: written.join("") } };
  console.log("actual: the arguments of c1 on the stream:", written.join(""));
  const [{ messageId, content }] = events.filter(({ type }) => type === "TOOL_CALL_RESULT");
  const messages = [
    { id: "u1", role: "user", content: "write both" },
    { id: "a1", role: "assistant", content: "", toolCalls: [call] },
    { id: messageId, role: "tool", toolCallId: "c1", content },
    { id: "u2", role: "user", content: "and now?" },
  ];
  const end = await request("r2", { messages }).then(
    (told) => told.at(-1),
    (error) => ({ type: "an error", message: error.message }),
  );
  console.log("actual: the next run ends with", end.type, end.message ?? "");
  return turns.length === 1;
}

async function answerToWhatWasGivenUp() {
  about(
    "A call that the user has given up runs in a later run, when its interrupt is answered once more.",
    "the answer is refused: the call is over.",
    "a dialog that was left open in another window does what the user no longer wants.",
  );
  const { ran, request } = served([["c1"], "done", "done"]);
  const { outcome } = (await request("r1")).at(-1);
  const [{ id }] = outcome.interrupts;
  await request("r2", { messages: [], resume: [{ interruptId: id, status: "cancelled" }] }).catch(() => {});
  await request("r3", { messages: [{ id: "u2", role: "user", content: "and now?" }] });
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }];
  await request("r4", { messages: [], resume }).catch(() => {});
  console.log("actual: these ran:", ran);
  return ran.length === 1;
}

async function answerAfterANewMessage() {
  about(
    "A call waits, and the user says something else, which is answered. An answer to the call then runs it.",
    "the answer is refused: the run of the call is over.",
    "the user has said never mind, and it is done when a dialog is answered that was left open.",
  );
  const { ran, request } = served([["c1"], "never mind then", "done"]);
  const { outcome } = (await request("r1")).at(-1);
  const [{ id }] = outcome.interrupts;
  await request("r2", { messages: [{ id: "u2", role: "user", content: "never mind" }] });
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }];
  await request("r3", { messages: [], resume }).catch(() => {});
  console.log("actual: these ran:", ran);
  return ran.length === 1;
}

async function runsWhileTheRunWaits() {
  about(
    "The first of three calls is answered, the second waits, and the third runs when the run has ended.",
    "the third begins after the second, as calls of a turn with approvals do, or the run ends after it.",
    "the client takes the run for idle, and is not told what the third call does.",
  );
  const { slow, request } = served([["c1", "c2", "c3 slow"], "done"]);
  const { outcome } = (await request("r1")).at(-1);
  const [{ id }] = outcome.interrupts;
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: false } }];
  const end = (await request("r2", { messages: [], resume })).at(-1);
  console.log("actual: the run ends with", end.outcome?.type, "- the third call:", slow.state);
  slow.end();
  return end.outcome?.type === "interrupt" && slow.state === "runs";
}

async function waitIsNotTold() {
  about(
    "A call waits. A request that gives up an interrupt which there is not ends its run as a success.",
    "the run ends with the interrupt of the call.",
    "no client is shown that the call still waits.",
  );
  const { request } = served([["c1"], "done"]);
  await request("r1");
  const resume = [{ interruptId: "no-such-interrupt", status: "cancelled" }];
  const end = (await request("r2", { messages: [], resume })).at(-1);
  console.log("actual: the run ends with", end.type, end.outcome?.type ?? "");
  return end.type === "RUN_FINISHED" && end.outcome?.type !== "interrupt";
}

async function abandonedCallIsLeftOut() {
  about(
    "The user gives a call up that waits, and says something new: the model is not shown the call.",
    "the call, with a result that says that it was given up.",
    "the model asks for it once more, as it does not know that it has.",
  );
  const { shown, request } = served([["c1"], "done", "done"]);
  const { outcome } = (await request("r1")).at(-1);
  const [{ id }] = outcome.interrupts;
  await request("r2", { messages: [], resume: [{ interruptId: id, status: "cancelled" }] }).catch(() => {});
  await request("r3", { messages: [{ id: "u2", role: "user", content: "and now?" }] });
  console.log("actual: the model is shown:", shown);
  return !shown.some((one) => one.tool_calls);
}

const programs = {
  callIsNotStreamed,
  answerOfAnotherThread,
  askedAgainWithoutAnAnswer,
  failureHasNoResult,
  repeatedIdEndsTheThread,
  answerToWhatWasGivenUp,
  answerAfterANewMessage,
  runsWhileTheRunWaits,
  waitIsNotTold,
  abandonedCallIsLeftOut,
};
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
