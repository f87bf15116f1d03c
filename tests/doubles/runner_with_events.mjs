// A runner that shows each turn in an event and waits for no listener, after the JavaScript face.
//
//     node runner_with_events.mjs PATH/TO/runlock_runner.mjs

import { pathToFileURL } from "node:url";

const { serveRunner } = await import(pathToFileURL(process.argv[2]));

class Adapter {
  handshake = {
    implementation: { name: "events", version: "1", language: "javascript" },
    profile: "tool-runner-core",
    gates: ["model", "tool", "yield"],
    stimuli: ["cancel", "cancel.yield", "deliver", "clock.advance"],
    outcomes: { model: ["turn"], tool: ["ok"], yield: ["resume", "break"] },
    runner: { stream: [false] },
  };

  open(host) {
    Object.assign(this, { host, isAborted: false, received: null, messages: [] });
  }

  async *run(input) {
    this.messages.push({ role: "user", text: input });
    while (!this.isAborted) {
      const { text, tool_calls } = await this.host.infer(this.messages, { sent: this.messages.length, params: {} });
      this.received = { role: "assistant", text, ...(tool_calls.length && { tool_calls }) };
      this.messages.push(this.received);
      if (this.host.show(this.received) === "break") this.isAborted = true;
      if (this.isAborted || !tool_calls.length) return;
      await Promise.all(tool_calls.map((call) => this.answer(call)));
    }
  }

  async answer({ id, name, args }) {
    const { content } = await this.host.tool(id, name, args);
    this.messages.push({ role: "tool", call: id, status: "ok", text: content });
  }

  cancel() {
    this.isAborted = true;
  }

  last() {
    return this.received;
  }

  ended() {
    return this.isAborted ? "Cancelled" : "NaturalEnd";
  }

  snapshot() {
    return { messages: this.messages };
  }
}

serveRunner(() => new Adapter());
