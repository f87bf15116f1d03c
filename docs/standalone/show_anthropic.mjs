// What the tool runner of @anthropic-ai/sdk does, with a scripted server.
//
//     npm install @anthropic-ai/sdk@1.14.0 node@22.23.3
//     node --input-type=module - [NAME] < show_anthropic.mjs

import Anthropic from "@anthropic-ai/sdk";

/** Prints what a program is about, before it prints what it sees. */
function about(bug, expected, hurts) {
  console.log(`${bug}\nexpected: ${expected}\nit hurts: ${hurts}`);
}

const call = (id) => ({ type: "tool_use", id, name: "read", input: {} });
const FAULT = "the server is overloaded";
const DONE = [{ type: "text", text: "done" }];

/** A client whose server gives its answers one after the other, and keeps the messages of each request. */
function served(...answers) {
  const asked = [];
  const fetch = async (_, { body }) => {
    asked.push(JSON.parse(body).messages);
    const content = answers.shift();
    if (content === FAULT) return new Response("{}", { status: 529 });
    const stop_reason = content === DONE ? "end_turn" : "tool_use";
    const known = { id: "msg_1", type: "message", role: "assistant", model: "m", usage: {} };
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify({ ...known, content, stop_reason, stop_sequence: null }), { headers });
  };
  return { asked, client: new Anthropic({ apiKey: "k", baseURL: "http://server", maxRetries: 0, fetch }) };
}

/** A tool runner with one tool. */
function runner(client, run, options, more) {
  const tools = [{ name: "read", description: "Read.", input_schema: { type: "object" }, run }];
  const messages = [{ role: "user", content: "read" }];
  return client.beta.messages.toolRunner({ model: "m", max_tokens: 9, messages, tools, thread: false, ...more }, options);
}

async function repeatedId() {
  about(
    "Two calls with one id in one turn give the model two results under that id.",
    "one result for the id.",
    "the API refuses a request with two results for one call.",
  );
  const { asked, client } = served([call("c1"), call("c1")], DONE);
  await runner(client, () => "read");
  const results = asked.at(-1).at(-1).content.map((block) => block.tool_use_id);
  console.log("actual: the model is shown results for:", results);
  return results.join() === "c1,c1";
}

async function responseAfterAPush() {
  about(
    "A response that is asked for after a push goes into the next request without the turn that it answers.",
    "no result without its call.",
    "the API refuses the request, and the conversation is lost.",
  );
  const { asked, client } = served([call("c1")], DONE);
  const reading = runner(client, () => "read");
  for await (const message of reading) {
    if (message.stop_reason !== "tool_use") break;
    reading.pushMessages({ role: "user", content: "never mind" });
    await reading.generateToolResponse();
  }
  const blocks = asked.at(-1).flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const types = blocks.map((block) => block.type);
  console.log("actual: the blocks of the next request:", types);
  return types.includes("tool_result") && !types.includes("tool_use");
}

async function responseAfterTheAbort() {
  about(
    "After the signal was aborted, asking for a response runs the tool.",
    "the tool does not run.",
    "what the user has stopped is done all the same.",
  );
  const { client } = served([call("c1")], DONE);
  const stop = new AbortController();
  let ran = false;
  const reading = runner(client, () => ((ran = true), "read"), { signal: stop.signal });
  reading.done().catch(() => {});
  for await (const _ of reading) {
    stop.abort();
    await reading.generateToolResponse();
    break;
  }
  console.log("actual: the tool ran:", ran);
  return ran;
}

async function errorOfAStream() {
  about(
    "An error of a stream is lost if the user changed the messages meanwhile, and another request is sent.",
    "the error reaches the user after one request.",
    "the error is lost, and a second request is paid for.",
  );
  const { asked, client } = served(FAULT, FAULT);
  const reading = runner(client, () => "read", {}, { stream: true });
  reading.done().catch(() => {});
  let isFirst = true;
  try {
    for await (const stream of reading) {
      if (isFirst) reading.pushMessages({ role: "user", content: "and this" });
      isFirst = false;
      await stream.done().catch(() => {});
    }
  } catch (error) {
    console.log("actual: the user meets", error.status, "after requests:", asked.length);
  }
  return asked.length > 1;
}

const programs = { repeatedId, responseAfterAPush, responseAfterTheAbort, errorOfAStream };
const names = process.argv.slice(2).filter((name) => name in programs);
const stillThere = [];
for (const name of names.length ? names : Object.keys(programs)) {
  process.stdout.write(`${name}: `);
  if (await programs[name]()) stillThere.push(name);
}
if (stillThere.length) console.error(`still there: ${stillThere.join(", ")}`);
process.exit(stillThere.length ? 1 : 0);
