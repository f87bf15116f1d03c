// What `runTools` of openai does, with a scripted server.
//
//     npm install node@22.23.3 openai@7.57.0
//     node --input-type=module - [NAME] < show_openai.mjs

import OpenAI from "openai";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

const call = (id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } });

/** A client whose server gives its answers one after the other, and keeps the messages of each request. */
function served(...answers) {
  const asked = [];
  const fetch = async (_, { body }) => {
    asked.push(JSON.parse(body).messages);
    const message = { role: "assistant", refusal: null, content: null, ...answers.shift() };
    const choice = { index: 0, message, logprobs: null, finish_reason: message.tool_calls ? "tool_calls" : "stop" };
    const completion = { id: "chatcmpl-1", object: "chat.completion", created: 0, model: "m", choices: [choice] };
    return new Response(JSON.stringify(completion), { headers: { "content-type": "application/json" } });
  };
  return { asked, client: new OpenAI({ apiKey: "k", baseURL: "http://server", maxRetries: 0, fetch }) };
}

/** A runner with one tool. */
function runner(client, options) {
  const read = { name: "read", parameters: { type: "object" }, parse: JSON.parse, function: () => "read" };
  const messages = [{ role: "user", content: "read" }];
  return client.chat.completions.runTools({ model: "m", messages, tools: [{ type: "function", function: read }] }, options);
}

async function repeatedId() {
  about(
    "Two calls with one id in one turn give the model two results under that id.",
    "one result for the id.",
    "the API refuses a request with two results for one call.",
  );
  const { asked, client } = served({ tool_calls: [call("c1"), call("c1")] }, { content: "done" });
  await runner(client).done();
  const results = asked.at(-1).filter((message) => message.role === "tool").map((message) => message.tool_call_id);
  console.log("actual: the model is shown results for:", results);
  return results.join() === "c1,c1";
}

async function limitOfZero() {
  about(
    "A limit of 0 sends no request, and is an error.",
    "the runner ends without an error.",
    "a program that switches its model off with the limit crashes instead.",
  );
  const { asked, client } = served({ content: "done" });
  const error = await runner(client, { maxChatCompletions: 0 }).done().catch((error) => error);
  console.log("actual: the runner ends with:", error?.message, "after requests:", asked.length);
  return error instanceof Error && asked.length === 0;
}

async function abortInTheListener() {
  about(
    "An abort in the listener of the event `message` still runs the first call of that message.",
    "no call runs after the abort.",
    "a user who stops the runner because of what the model asks for has it done all the same.",
  );
  const ran = [];
  const write = { name: "write", parameters: { type: "object" }, function: (args) => ran.push(args) };
  const asks = { tool_calls: ["1", "2"].map((id) => ({ id, type: "function", function: { name: "write", arguments: id } })) };
  const { client } = served(asks, { content: "done" });
  const messages = [{ role: "user", content: "write" }];
  const runner = client.chat.completions.runTools({ model: "m", messages, tools: [{ type: "function", function: write }] });
  runner.on("message", () => runner.abort());
  const error = await runner.done().catch((error) => error);
  console.log("actual: the runner ends with:", error?.message, "after it ran the calls:", ran);
  return ran.length > 0;
}

const programs = { repeatedId, limitOfZero, abortInTheListener };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
