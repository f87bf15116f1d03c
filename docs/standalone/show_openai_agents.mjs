// What @openai/agents does, with the scripted model of its own tests.
//
//     npm install @openai/agents@0.20.0 node@22.23.3 zod@4.6.7
//     node --input-type=module - [NAME] < show_openai_agents.mjs

import { Agent, run, RunToolApprovalItem, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

setTracingDisabled(true);

const parameters = { type: "object", properties: {}, required: [], additionalProperties: true };

async function repeatedId() {
  about(
    "A call has the id of one in an earlier run: the model is shown the old turn and the new result.",
    "two turns, each with its own result.",
    "the model works with a history in which half of what happened is missing.",
  );
  const asks = [functionCall("write", {}, { callId: "c1" })];
  const says = [assistantMessage("done")];
  const model = new ScriptedModel([asks, says, asks, says]);
  let written = 0;
  const execute = () => `written ${++written}`;
  const asking = { name: "write", description: "", needsApproval: true };
  const write = tool({ ...asking, parameters, strict: false, execute });
  const agent = new Agent({ name: "agent", model, tools: [write] });
  let thread = [];
  for (const content of ["write", "write again"]) {
    let result = await run(agent, [...thread, { role: "user", content }]);
    for (const item of result.interruptions) result.state.approve(item);
    result = await run(agent, result.state);
    thread = result.history;
  }
  const shown = model.lastCall.request.input.map((item) => item.type ?? item.role);
  console.log("actual: the model is shown:", shown);
  const times = (type) => shown.filter((one) => one === type).length;
  const alone = times("function_call") === 1 && times("function_call_result") === 1;
  return alone && shown.indexOf("function_call") === 1 && shown.at(-1) === "function_call_result";
}

async function unknownAnswerAsksAgain() {
  about(
    "An approval of an unknown call goes on with the state, which asks the function again that decides who waits.",
    "the answer is refused, or the call waits on; nothing runs that the user has not approved.",
    "a rule is relaxed while a request is open, and an answer for another call runs the tool.",
  );
  const model = new ScriptedModel([[functionCall("write", {}, { callId: "c1" })], [assistantMessage("done")]]);
  let asked = 0;
  let written = 0;
  const needsApproval = async () => ++asked === 1; // and not any more
  const execute = () => `written ${++written}`;
  const write = tool({ name: "write", description: "", parameters, strict: false, needsApproval, execute });
  const agent = new Agent({ name: "agent", model, tools: [write] });
  const { state, interruptions } = await run(agent, "write");
  console.log("actual: these wait:", interruptions.map(({ rawItem }) => rawItem.callId));
  state.approve(new RunToolApprovalItem(functionCall("write", {}, { callId: "c9" }), agent));
  await run(agent, state);
  console.log("actual: c9 is approved; the function was asked", asked, "times, and written:", written);
  return asked === 2 && written === 1;
}

async function turnIsLost() {
  about(
    "A call of a tool that does not exist ends the run in an error, and the turn that led to it is in no list.",
    "the items of the run hold the call.",
    "the model is not shown in the next run what it did wrong, and does it again.",
  );
  const model = new ScriptedModel([[functionCall("fly", {}, { callId: "c1" })]]);
  const result = await run(new Agent({ name: "agent", model, tools: [] }), "fly", { stream: true });
  const error = await result.completed.then(() => null, ({ message }) => message);
  console.log("actual: the run ends with an error:", error);
  const kept = result.history.map((item) => item.type ?? item.role);
  console.log("actual: its history has:", kept);
  return error !== null && !kept.includes("function_call");
}

const programs = { repeatedId, unknownAnswerAsksAgain, turnIsLost };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
