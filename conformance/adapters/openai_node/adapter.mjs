// `runTools` of `openai` behind the hosted interface, offline: its `fetch` ends in the kit.
//
// The user of `runTools` sees a completion in the event `message`, for whose listeners the runner does not wait: the
// user acts before the listener returns.  As in the first example of its documentation, one tool gets the arguments
// as a string, and the others have a `parse`.
// A run that has its last turn ends well in spite of an abort, as documented; the adapter then says Cancelled.
// Not declared: changes of the state, since what the runner shows between a turn and its tools cannot be awaited;
// an error of a tool, which the API has no word for; a fault, since what a tool throws ends the run in any case;
// a turn that was cut off, which the SDK's helpers make an exception of, as they document.

import OpenAI from "openai";
import { VERSION } from "openai/version";
import { serveRunner } from "./runlock_runner.mjs";
import { Endpoint, seen } from "./endpoint.mjs";

class Adapter {
  handshake = {
    implementation: { name: "openai", version: VERSION, language: "javascript" },
    profile: "tool-runner-core",
    gates: ["model", "tool", "yield"],
    stimuli: ["cancel", "cancel.yield", "deliver", "clock.advance"],
    outcomes: { model: ["turn", "fault"], tool: ["ok", "raise"], yield: ["resume", "break"] },
    stops: ["tool_use", "end_turn"],
    runner: { stream: [false], max_iterations: true },
  };

  open(host, scenario) {
    Object.assign(this, { host, scenario, received: null, isAborted: false });
    this.endpoint = new Endpoint(host);
    const { fetch } = this.endpoint;
    this.client = new OpenAI({ apiKey: "kit", baseURL: "http://kit", maxRetries: 0, fetch, logLevel: "off" });
  }

  async *run(input) {
    const messages = [{ role: "user", content: input }];
    const tools = this.scenario.tools.filter((tool) => tool.offered).map(({ name }) => this.tool(name));
    const maxChatCompletions = this.scenario.runner.max_iterations ?? Infinity;
    this.runner = this.client.chat.completions.runTools({ model: "kit", messages, tools }, { maxChatCompletions });
    this.runner.on("message", (message) => message.role === "assistant" && this.see(message));
    await this.runner.done();
  }

  /** What the user does in the listener of the event. */
  see(message) {
    [this.received] = seen([message]);
    if (this.host.show(this.received) === "break") this.runner.abort();
  }

  cancel() {
    this.isAborted = true;
    this.runner.abort();
  }

  last() {
    return this.received;
  }

  ended() {
    return this.isAborted ? "Cancelled" : "NaturalEnd";
  }

  snapshot() {
    return { messages: seen(this.runner.messages) };
  }

  tool(name) {
    const run = async (args) => (await this.host.tool(null, name, args)).content ?? "";
    const parsed = name === "t0" ? { function: (args) => run(JSON.parse(args)) } : { function: run, parse: JSON.parse };
    return { type: "function", function: { name, parameters: { type: "object" }, ...parsed } };
  }
}

serveRunner(() => new Adapter());
