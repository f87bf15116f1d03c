// What Vercel's AI SDK does, with a scripted model.
//
//     npm install ai@6.0.326 node@22.23.3 zod@4.6.7
//     npm install ai@7.0.173 node@22.23.3 zod@4.6.7
//     node --input-type=module - [NAME] < show_vercel_ai.mjs

import {
  AbstractChat, convertToModelMessages, DirectChatTransport, generateText, hasToolCall, jsonSchema,
  lastAssistantMessageIsCompleteWithApprovalResponses as sendAutomaticallyWhen, readUIMessageStream, streamText, tool,
  ToolLoopAgent,
} from "ai";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

/** Gives its turns one after the other: a text, or the ids and names of calls; `shown` is what it was last sent. */
function scripted(...turns) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = { specificationVersion: "v3", provider: "scripted", modelId: "scripted", supportedUrls: {} };
  model.doGenerate = async ({ prompt }) => {
    model.shown = prompt;
    const turn = turns.shift();
    const asked = typeof turn === "string" ? [] : turn;
    const calls = asked.map(([id, name]) => ({ type: "tool-call", toolCallId: id, toolName: name, input: "{}" }));
    const content = calls.length ? calls : [{ type: "text", text: turn }];
    return { content, finishReason: { unified: calls.length ? "tool-calls" : "stop" }, usage, warnings: [] };
  };
  model.doStream = async (options) => {
    const { content, ...end } = await model.doGenerate(options);
    const [id, [{ text }]] = ["text", content];
    const said = [{ type: "text-start", id }, { type: "text-delta", id, delta: text }, { type: "text-end", id }];
    return { stream: ReadableStream.from([...(text ? said : content), { type: "finish", ...end }]) };
  };
  return model;
}

const inputSchema = jsonSchema({ type: "object" });
const stopWhen = () => false;
const hello = [{ role: "user", content: "hello" }];

async function repeated_id() {
  about(
    "Two calls with one id in one turn give the model two results under that id.",
    "one result for the id.",
    "providers refuse a history with two results for one call, in this request and all later ones.",
  );
  const read = tool({ inputSchema, execute: async () => "read" });
  const model = scripted([["c1", "read"], ["c1", "read"]], "done");
  await generateText({ model, tools: { read }, stopWhen, messages: hello });
  const results = model.shown.at(-1).content.map((part) => part.toolCallId);
  console.log("actual: the model is shown results for:", results);
  return results.length === 2 && new Set(results).size === 1;
}

async function partial_approval() {
  about(
    "Approvals for a part of the calls are turned down with an error, but the tools that they approve have run.",
    "each tool runs once.",
    "a tool that was approved once runs twice: a payment is made twice.",
  );
  const ran = [];
  const execute = async (_, { toolCallId }) => ran.push(toolCallId);
  const tools = { write: tool({ inputSchema, needsApproval: true, execute }) };
  const model = scripted([["c1", "write"], ["c2", "write"]], "done");
  const first = await generateText({ model, tools, stopWhen, messages: hello });
  const messages = [...hello, ...(first.responseMessages ?? first.response.messages)];
  const requests = first.content.filter((part) => part.type === "tool-approval-request");
  const yes = ({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true });
  for (const approved of [requests.slice(0, 1), requests]) {
    const message = { role: "tool", content: approved.map(yes) };
    try {
      await generateText({ model, tools, stopWhen, messages: [...messages, message] });
    } catch (error) {
      console.log(`actual: yes to c1 alone: ${error.message}`);
    }
    console.log("actual: so far these ran:", ran);
  }
  return ran.join() === "c1,c1,c2";
}

async function cancel_during_an_approval() {
  about(
    "A cancel while a tool runs is lost if its sibling waits for approval.",
    "nothing waits for approval after the cancel.",
    "the user has stopped the run, and is asked to approve its next call.",
  );
  const stop = new AbortController();
  const execute = async (_, { abortSignal }) => {
    stop.abort();
    abortSignal.throwIfAborted();
  };
  const tools = { read: tool({ inputSchema, execute }), write: tool({ inputSchema, needsApproval: true, execute }) };
  const model = scripted([["c1", "read"], ["c2", "write"]], "done");
  const result = await generateText({ model, tools, stopWhen, messages: hello, abortSignal: stop.signal });
  const parts = result.content.map((part) => part.type);
  console.log("actual: the call that was cancelled gives:", parts);
  return parts.includes("tool-approval-request");
}

async function asks_after_a_cancel() {
  about(
    "After a cancel, the function that says whether a call needs approval is still asked about the other calls.",
    "nothing is asked after the cancel.",
    "a person or a service is asked about calls of a run that the user has stopped.",
  );
  const stop = new AbortController();
  const questions = [];
  const needsApproval = async (_, { toolCallId }) => {
    questions.push(toolCallId);
    stop.abort();
    return false;
  };
  const tools = { write: tool({ inputSchema, needsApproval, execute: async () => "written" }) };
  const model = scripted([["c1", "write"], ["c2", "write"]], "done");
  const request = { model, tools, stopWhen, messages: hello, abortSignal: stop.signal };
  await generateText(request).catch((error) => console.log("actual: the end is:", error.name));
  console.log("actual: cancelled at c1, and these were asked about:", questions);
  return questions.join() === "c1,c2";
}

/** A conversation about a call that waits for approval; `answer` sends a response to the request for it. */
async function asked(ran, when = stopWhen) {
  const execute = async (_, { toolCallId }) => ran.push(toolCallId);
  const tools = { write: tool({ inputSchema, needsApproval: true, execute }) };
  const model = scripted([["c1", "write"]], "done", "done");
  const messages = [...hello];
  const resume = async (...more) => {
    messages.push(...more);
    const result = await generateText({ model, tools, stopWhen: when, messages: [...messages] });
    messages.push(...(result.responseMessages ?? result.response.messages));
    return result;
  };
  const first = await resume();
  const { approvalId } = first.content.find((part) => part.type === "tool-approval-request");
  const response = (approved) => ({ type: "tool-approval-response", approvalId, approved });
  return (approved) => resume({ role: "tool", content: [response(approved)] });
}

async function approval_again() {
  about(
    "An approval that comes again, when its call has its result and the model has ended, runs the tool again.",
    "the second approval is refused, and c1 has run once.",
    "a button that is pressed twice, or a request that is sent again, does everything twice.",
  );
  const ran = [];
  const answer = await asked(ran);
  await answer(true);
  console.log("actual: approved once, these ran:", ran);
  await answer(true);
  console.log("actual: with the same approval once more:", ran);
  return ran.join() === "c1,c1";
}

async function approval_of_a_rejected_call() {
  about(
    "An approval that comes after the call was rejected, and the model has ended, runs the tool.",
    "the approval is refused, and nothing runs.",
    "a call that the user has rejected runs.",
  );
  const ran = [];
  const answer = await asked(ran);
  await answer(false);
  console.log("actual: rejected, these ran:", ran);
  await answer(true);
  console.log("actual: approved after that:", ran);
  return ran.join() === "c1";
}

async function stop_tool_after_its_approval() {
  about(
    "A tool that stops the loop does not stop it if it has waited for approval: the model is asked again.",
    "the loop stops when the tool has run, as it does without approval.",
    "the model goes on after the tool that ends its work, and may call others.",
  );
  const ran = [];
  const answer = await asked(ran, hasToolCall("write"));
  const result = await answer(true);
  console.log("actual: these ran:", ran, "and then the model said:", result.text);
  return ran.join() === "c1" && result.text === "done";
}

/** The last message that a page has built from the stream of a response to its messages. */
async function built(model, tools, messages) {
  const response = streamText({ model, tools, stopWhen, messages: await convertToModelMessages(messages) });
  const stream = response.toUIMessageStream({ originalMessages: messages });
  let last;
  const message = messages.at(-1).role === "assistant" ? messages.at(-1) : undefined;
  for await (const one of readUIMessageStream({ stream, message })) last = one;
  return last;
}

async function results_told_anew() {
  about(
    "In a chat the model is shown other results of the same calls in later requests.",
    "the same messages, with new ones after them.",
    "the model cannot see any more what failed, and the cache of its provider does not know the prompt.",
  );
  const read = tool({ inputSchema, execute: () => Promise.reject(new Error("the disk is full")) });
  const write = tool({ inputSchema, needsApproval: true, execute: async () => "written" });
  const model = scripted([["c1", "read"]], [["c2", "write"]], "done", "done again");
  const results = { c1: [], c2: [] };
  const request = async (messages) => {
    const message = await built(model, { read, write }, messages);
    const told = model.shown.filter((one) => one.role === "tool").flatMap((one) => one.content);
    for (const { toolCallId, output } of told) if (output) results[toolCallId].push(JSON.stringify(output));
    return message;
  };
  const hello = { id: "1", role: "user", parts: [{ type: "text", text: "hello" }] };
  const asked = await request([hello]);
  const rejected = ({ approval, ...part }) => ({
    ...part,
    ...(approval && { state: "approval-responded", approval: { ...approval, approved: false } }),
  });
  const said = await request([hello, { ...asked, parts: asked.parts.map(rejected) }]);
  await request([hello, said, { id: "2", role: "user", parts: [{ type: "text", text: "and now?" }] }]);
  console.log("actual: the failed call:", ...results.c1);
  console.log("actual: the rejected call:", ...results.c2);
  return Object.values(results).some((of) => new Set(of).size > 1);
}

/** A chat whose page keeps the messages, and sends approvals once each call of the last message has one. */
class Chat extends AbstractChat {
  constructor(agent) {
    const state = { status: "ready", messages: [], snapshot: structuredClone };
    state.pushMessage = (one) => void (state.messages = [...state.messages, one]);
    state.replaceMessage = (at, one) => void (state.messages = state.messages.with(at, structuredClone(one)));
    super({ state, sendAutomaticallyWhen, transport: new DirectChatTransport({ agent }) });
  }
}

async function approval_after_a_message() {
  about(
    "A message that is sent while a call waits for approval fails, and stays in the chat.",
    "the approval that comes after it runs the tool, or the chat says that it cannot.",
    "nothing happens after the approval, and every later message fails: the chat is lost.",
  );
  const ran = [];
  const write = tool({ inputSchema, needsApproval: true, execute: async (_, { toolCallId }) => ran.push(toolCallId) });
  const chat = new Chat(new ToolLoopAgent({ model: scripted([["c1", "write"]], "done"), tools: { write }, stopWhen }));
  await chat.sendMessage({ text: "hello" });
  const { approval } = chat.lastMessage.parts.find((part) => part.approval);
  await chat.sendMessage({ text: "never mind" });
  console.log("actual: after another message, the chat is", chat.status);
  await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log("actual: after the approval, it is", chat.status, "and these ran:", ran);
  return chat.status === "error" && !ran.length;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

/** The ids of the approvals that a chat waits for. */
const waiting = (chat) => chat.messages.flatMap(({ parts }) => parts).flatMap(({ state, approval }) => {
  return state === "approval-requested" ? [approval.id] : [];
});

async function approvals_around_a_message() {
  about(
    "Of two calls that wait one is approved, a message is sent, and the other is approved: no call runs.",
    "the approved calls run, or the message or the approval is refused.",
    "every later message fails: the chat is lost, with two approvals that nothing came of.",
  );
  const ran = [];
  const write = tool({ inputSchema, needsApproval: true, execute: async (_, { toolCallId }) => ran.push(toolCallId) });
  const model = scripted([["c1", "write"], ["c2", "write"]], "done", "done");
  const chat = new Chat(new ToolLoopAgent({ model, tools: { write }, stopWhen }));
  await chat.sendMessage({ text: "hello" });
  const [first, second] = waiting(chat);
  await chat.addToolApprovalResponse({ id: first, approved: true });
  await chat.sendMessage({ text: "never mind" });
  await chat.addToolApprovalResponse({ id: second, approved: true });
  await settled();
  await chat.sendMessage({ text: "and now?" });
  console.log("actual: after both approvals and another message, the chat is", chat.status, "and these ran:", ran);
  return chat.status === "error" && !ran.length;
}

/** A tool that works until it is aborted, and the calls that have entered it. */
function endless(more = {}) {
  const ran = [];
  const execute = async (_, { toolCallId, abortSignal }) => {
    ran.push(toolCallId);
    await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(new Error("stopped"))));
  };
  return { ran, read: tool({ inputSchema, execute, ...more }) };
}

async function approved_again_after_a_stop() {
  about(
    "The user stops a chat while an approved call runs; an approval that comes again runs the call again.",
    "the tool runs once: the call is approved already, and its run was stopped.",
    "what the user approved once is done twice, the second time after a stop.",
  );
  const { ran, read: write } = endless({ needsApproval: true });
  const chat = new Chat(new ToolLoopAgent({ model: scripted([["c1", "write"]], "done"), tools: { write }, stopWhen }));
  await chat.sendMessage({ text: "hello" });
  const [id] = waiting(chat);
  await chat.addToolApprovalResponse({ id, approved: true });
  while (!ran.length) await settled();
  await chat.stop();
  await settled();
  await chat.addToolApprovalResponse({ id, approved: true });
  await settled();
  console.log("actual: the tool ran for:", ran);
  return ran.length > 1;
}

async function message_after_a_stop() {
  about(
    "The user stops a chat while a tool runs: every message after that fails.",
    "the model is shown the new message, and that the call was stopped.",
    "a chat that was stopped once is lost.",
  );
  const { ran, read } = endless();
  const model = scripted([["c1", "read"]], "done");
  const chat = new Chat(new ToolLoopAgent({ model, tools: { read }, stopWhen }));
  const sent = chat.sendMessage({ text: "hello" });
  while (!ran.length) await settled();
  await chat.stop();
  await sent;
  await chat.sendMessage({ text: "and now?" });
  await settled();
  console.log("actual: after a stop and another message, the chat is", chat.status, "with", chat.error?.message);
  return chat.status === "error";
}

async function one_id_asks_and_does_not() {
  about(
    "Two calls of a turn have one id, and one of them needs approval: no user is asked, and the chat goes on.",
    "the approval of the call that needs it is asked for, or the turn is refused.",
    "a call that should have been put before the user is dropped.",
  );
  const read = tool({ inputSchema, execute: async () => "read" });
  const write = tool({ inputSchema, needsApproval: true, execute: async () => "written" });
  const model = scripted([["c1", "write"], ["c1", "read"]], "done");
  const chat = new Chat(new ToolLoopAgent({ model, tools: { read, write }, stopWhen }));
  await chat.sendMessage({ text: "hello" });
  await settled();
  const states = chat.lastMessage.parts.filter((part) => part.toolCallId).map((part) => `${part.type} ${part.state}`);
  console.log("actual: the chat is", chat.status, "and waits for", waiting(chat).length, "approvals; its calls:", states);
  return chat.status === "ready" && !waiting(chat).length;
}

/** A chat about two calls that the user stops while the function for the first is asked; it says what that was given. */
async function stopped_while_asked(questions, answer) {
  const needsApproval = async (_, options) => {
    questions.push(options);
    return answer;
  };
  const write = tool({ inputSchema, needsApproval, execute: async () => "written" });
  const model = scripted([["c1", "write"], ["c2", "write"]], "done");
  const chat = new Chat(new ToolLoopAgent({ model, tools: { write }, stopWhen }));
  const sent = chat.sendMessage({ text: "hello" });
  while (!questions.length) await new Promise((resolve) => setTimeout(resolve, 1));
  await chat.stop();
  await sent;
  return chat;
}

async function question_is_not_told_of_a_stop() {
  about(
    "When the user stops a chat, the function that says whether a call needs approval is not told.",
    "it is given a signal, as a tool is.",
    "a person or a service is still asked about a call of a response that was stopped.",
  );
  const questions = [];
  const chat = await stopped_while_asked(questions, new Promise(() => {}));
  const given = Object.keys(questions[0]);
  console.log("actual: the chat is", chat.status, "and the function still waits; it was given:", given);
  return chat.status === "ready" && !given.includes("abortSignal");
}

async function asks_after_a_stop() {
  about(
    "When the user has stopped a chat, the function that says whether a call needs approval is asked about another.",
    "nothing is asked after the stop.",
    "a person or a service is asked about a call of a response that the user has stopped.",
  );
  const questions = [];
  let answer;
  const chat = await stopped_while_asked(questions, new Promise((resolve) => (answer = resolve)));
  answer(false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const calls = questions.map((one) => one.toolCallId);
  console.log("actual: the chat was", chat.status, "at c1, and these were asked about:", calls);
  return chat.status === "ready" && calls.join() === "c1,c2";
}

async function approved_and_not_needed() {
  about(
    "A call waits, and then its function says that it needs no approval: once it is approved, it is denied.",
    "the approved call runs.",
    "what the user has approved does not run, and every later message of the chat fails.",
  );
  const ran = [];
  let needsIt = true;
  const execute = async (_, { toolCallId }) => ran.push(toolCallId);
  const write = tool({ inputSchema, needsApproval: () => needsIt, execute });
  const model = scripted([["c1", "write"]], "done", "done again");
  const chat = new Chat(new ToolLoopAgent({ model, tools: { write }, stopWhen }));
  await chat.sendMessage({ text: "hello" });
  const { approval } = chat.lastMessage.parts.find((part) => part.approval);
  needsIt = false;
  await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log("actual: c1 is approved, the chat is", chat.status, "and these ran:", ran);
  await chat.sendMessage({ text: "go on" });
  console.log("actual: after another message, it is", chat.status);
  return chat.status === "error" && !ran.length;
}

async function approved_in_vain() {
  about(
    "A call waits, and then its function says that it needs no approval: the approved call is denied.",
    "the approved call runs.",
    "what the user has approved does not run, and the model is told that it was refused.",
  );
  const ran = [];
  let needsIt = true;
  const execute = async (_, { toolCallId }) => ran.push(toolCallId);
  const tools = { write: tool({ inputSchema, needsApproval: () => needsIt, execute }) };
  const model = scripted([["c1", "write"]], "done");
  const { content, response } = await generateText({ model, tools, stopWhen, messages: hello });
  const { approvalId } = content.find((part) => part.type === "tool-approval-request");
  needsIt = false;
  const yes = { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] };
  await generateText({ model, tools, stopWhen, messages: [...hello, ...response.messages, yes] });
  const [result] = model.shown.at(-1).content;
  console.log("actual: c1 is approved, these ran:", ran, "and the model is shown:", result.output);
  return !ran.length;
}

const programs = {
  approval_after_a_message,
  approvals_around_a_message,
  approved_again_after_a_stop,
  message_after_a_stop,
  one_id_asks_and_does_not,
  results_told_anew,
  repeated_id,
  partial_approval,
  cancel_during_an_approval,
  approval_again,
  approval_of_a_rejected_call,
  approved_and_not_needed,
  approved_in_vain,
  asks_after_a_cancel,
  asks_after_a_stop,
  question_is_not_told_of_a_stop,
  stop_tool_after_its_approval,
};
const stillThere = [];
for (const name of process.argv.slice(2).length ? process.argv.slice(2) : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
