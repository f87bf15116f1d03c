// The tool runner of `@anthropic-ai/sdk` behind the hosted interface, offline: its `fetch` ends in the kit.
//
// Not declared: a fault of a tool, since the SDK makes an error result of whatever a tool throws; a look at the
// tools, since the SDK does not show its set.  The end by a limit is NaturalEnd: the iteration ends alike.

import Anthropic, { AnthropicError } from "@anthropic-ai/sdk";
import { VERSION } from "@anthropic-ai/sdk/version";
import { Refused, serveRunner } from "./runlock_runner.mjs";
import { Endpoint } from "./endpoint.mjs";
import { User } from "./user.mjs";

class Adapter extends User {
  handshake = {
    implementation: { name: "@anthropic-ai/sdk", version: VERSION, language: "javascript" },
    profile: "tool-runner-core",
    policies: {
      // What the documentation promises, and not what the code does.
      // https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-runner: a turn without calls ends the loop
      // unless the history was changed, and its user may build the results; a tool that throws gives an error.
      "runner.answered": "skipped",
      "runner.finish": "state",
      "tool.raises": "failed_call",
      // https://github.com/anthropics/anthropic-sdk-typescript/blob/main/helpers.md: tools run after the body of the
      // loop, changes of tools count at once, a paused turn is sent back, and calls of one that was cut short never run.
      "tools.start": "after_resume",
      "tools.added": "at_once",
      "tools.removed": "at_once",
      "runner.pause": "resent",
      "runner.cut_off": "not_run",
    },
    gates: ["model", "tool", "yield"],
    stimuli: [
      "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools", "runner.again",
      "cancel", "cancel.yield", "deliver", "clock.advance",
    ],
    outcomes: { model: ["turn", "delta", "fault"], tool: ["ok", "error", "raise"], yield: ["resume", "break"] },
    stops: ["tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"],
    runner: { stream: [false, true], read: ["all", "none"], max_iterations: true },
  };

  open(host, scenario) {
    Object.assign(this, { host, scenario, endpoint: new Endpoint(host), versions: {}, received: null });
    this.stop = new AbortController();
    const fetch = this.endpoint.fetch;
    this.client = new Anthropic({ apiKey: "kit", baseURL: "http://kit", maxRetries: 0, fetch, logLevel: "off" });
  }

  run(input) {
    const { stream = false, max_iterations } = this.scenario.runner;
    const offered = this.scenario.tools.filter((tool) => tool.offered);
    const messages = [{ role: "user", content: input }];
    const limit = max_iterations === undefined || max_iterations === null ? {} : { max_iterations };
    const tools = offered.map((tool) => this.defined(tool.name));
    const params = { model: "kit", max_tokens: 16, messages, tools, stream, ...limit };
    this.runner = this.client.beta.messages.toolRunner(params, { signal: this.stop.signal });
    this.runner.done().catch(() => {});
    return this.items();
  }

  again() {
    return this.items();
  }

  async *items() {
    try {
      for await (const item of this.runner) {
        if (this.scenario.runner.stream) {
          item.on("message", (message) => this.receive(message));
          yield { message: null, pieces: this.pieces(item) };
        } else {
          this.receive(item);
          yield { message: this.received, pieces: null };
        }
      }
    } catch (error) {
      const isConsumed = error instanceof AnthropicError && error.message.includes("consumed");
      throw isConsumed ? new Refused(error.message) : error;
    }
  }

  cancel() {
    this.stop.abort();
  }

  /** The SDK does not say; the signal is its user's. */
  ended() {
    return this.stop.signal.aborted ? "Cancelled" : "NaturalEnd";
  }
}

serveRunner(() => new Adapter());
