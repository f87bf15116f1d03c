// What LangChain.js does, with a scripted chat model.
//
//     npm install @langchain/core@1.4.0 @langchain/langgraph@1.7.3 langchain@1.5.14 node@22.23.3 zod@4.6.7
//     node --input-type=module - [NAME] < show_langchain.mjs

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware } from "langchain";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

/** Gives its turns one after the other, a text or the ids and names of calls; `shown` is what it was sent. */
class Scripted extends BaseChatModel {
  constructor(turns) {
    super({});
    this.turns = turns;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    this.shown = messages;
    const turn = this.turns.shift();
    const asked = typeof turn === "string" ? [] : turn;
    const tool_calls = asked.map(([id, name]) => ({ type: "tool_call", id, name, args: {} }));
    const text = asked.length ? "" : turn;
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
  }
}

const write = { allowedDecisions: ["approve", "reject"] };

/** A thread of an agent that asks before it writes; `ran` are the calls that were executed. */
function thread(...turns) {
  return threadThatAsks({ write }, ...turns);
}

function threadThatAsks(interruptOn, ...turns) {
  const model = new Scripted(turns);
  const ran = [];
  const schema = { type: "object", properties: {} };
  const body = (name) => async (_, { toolCallId }) => `ran ${ran.push(`${name} ${toolCallId}`)}`;
  const tools = ["read", "write"].map((name) => tool(body(name), { name, description: name, schema }));
  const middleware = [humanInTheLoopMiddleware({ interruptOn })];
  const agent = createAgent({ model, tools, middleware, checkpointer: new MemorySaver() });
  const invoke = (given) => agent.invoke(given, { configurable: { thread_id: "t" } });
  const say = (content) => invoke({ messages: [{ role: "user", content }] });
  const resume = (decisions) => invoke(new Command({ resume: { decisions } }));
  const decide = (...types) => resume(types.map((type) => ({ type })));
  return { model, ran, say, resume, decide };
}

/** The messages that a model is shown, in few words. */
function inShort(messages) {
  return messages.map((one) => {
    if (one.type === "tool") return `result of ${one.tool_call_id}`;
    return one.tool_calls?.length ? `calls ${one.tool_calls.map(({ id }) => id)}` : one.type;
  });
}

async function repeatedId() {
  about(
    "Two calls with one id in one turn give the model two results under that id.",
    "one result for the id.",
    "providers refuse a history with two results for one call, in this request and all later ones.",
  );
  const { model, say } = thread([["c1", "read"], ["c1", "read"]], "done");
  await say("read");
  console.log("actual: the model is shown:", inShort(model.shown));
  return inShort(model.shown).filter((one) => one === "result of c1").length === 2;
}

async function callWithoutResult() {
  about(
    "Calls without a result: one that waits when the user goes on, and one whose sibling was rejected.",
    "each call has a result, and c1, which needs no approval, runs.",
    "most providers refuse a history in which a call has no result, so that the thread is stuck.",
  );
  const waits = thread([["c1", "write"]], "done");
  await waits.say("write");
  await waits.say("never mind");
  console.log("actual: input while it waits, and the model is shown:", inShort(waits.model.shown));
  const rejected = thread([["c1", "read"], ["c2", "write"]], "done");
  await rejected.say("read and write");
  await rejected.decide("reject");
  console.log("actual: c2 is rejected:", inShort(rejected.model.shown), "these ran:", rejected.ran);
  const isSkipped = rejected.ran.length === 0 && !inShort(rejected.model.shown).includes("result of c1");
  return isSkipped && inShort(waits.model.shown).join() === "human,calls c1,human";
}

async function turnWrittenAnew() {
  about(
    "The turn of the model is written anew: in another order, and without a call whose sibling was rejected.",
    "the turn as the model gave it, and c1, which was approved, runs.",
    "what the user has approved is dropped without a word, though the documentation says that it runs.",
  );
  const mixed = thread([["c1", "write"], ["c2", "read"]], "done");
  await mixed.say("write and read");
  await mixed.decide("approve");
  console.log("actual: c1 is approved, and the model is shown:", inShort(mixed.model.shown));
  const rejected = thread([["c1", "write"], ["c2", "write"]], "done");
  await rejected.say("write both");
  await rejected.decide("approve", "reject");
  console.log("actual: c1 is approved, c2 rejected:", inShort(rejected.model.shown), "these ran:", rejected.ran);
  const isLost = rejected.ran.length === 0 && inShort(rejected.model.shown)[1] === "calls c2";
  return isLost && inShort(mixed.model.shown)[1] === "calls c2,c1";
}

async function rejectedResume() {
  about(
    "A resume with too few decisions fails, and is kept: with all of them it fails in the same way.",
    "the second resume is taken, and both tools run.",
    "one wrong request of a user interface makes the thread unusable for ever.",
  );
  const { ran, say, decide } = thread([["c1", "write"], ["c2", "write"]], "done");
  await say("write both");
  const errors = [];
  for (const decisions of [["approve"], ["approve", "approve"]]) {
    await decide(...decisions).catch((error) => errors.push(error.message));
    console.log(`actual: ${decisions.length} decisions:`, errors.at(-1));
  }
  return errors.length === 2 && errors[0] === errors[1] && ran.length === 0;
}

async function editSkipsApproval() {
  about(
    "An edit to another tool runs that tool without the approval that it needs.",
    "the call waits again, as one of `write`, whose decisions are to approve or to reject.",
    "a reviewer of a harmless tool runs a tool that only others may approve.",
  );
  const read = { allowedDecisions: ["approve", "edit", "reject"] };
  const { ran, say, resume } = threadThatAsks({ read, write }, [["c1", "read"]], "done");
  await say("read");
  const edit = { type: "edit", editedAction: { name: "write", args: {} } };
  await resume([edit]).catch((error) => console.log("actual: the edit is refused:", error.message));
  console.log("actual: c1 is edited to `write`, and these ran:", ran);
  return ran.join() === "write c1";
}

const programs = { repeatedId, callWithoutResult, turnWrittenAnew, rejectedResume, editSkipsApproval };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
