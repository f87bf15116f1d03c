// A tiny agent and its Runlock adapter: it awaits the host where it would await the world.
//
//     runlock check 'cmd:node adapter.mjs'

import { Refused, serve } from "./runlock.mjs";

class Adapter {
  handshake = {
    implementation: { name: "tiny-agent", version: "1.0", language: "javascript" },
    profile: "core",
    stimuli: ["decide", "run.again"],
    tools: ["allow", "ask"],
    outcomes: { model: ["turn"], tool: ["ok", "error"] },
    decisions: { live: false, ids: false, payload: false },
  };

  open(host, scenario) {
    this.host = host;
    this.thread = [];
    this.waiting = new Map();
    this.tools = new Map(scenario.tools.map((tool) => [tool.name, tool.permission]));
  }

  async start(input) {
    this.thread.push({ role: "user", text: input });
    return this.loop();
  }

  async decide(decisions) {
    const known = decisions.filter((one) => this.waiting.has(one.call));
    if (!known.length) throw new Refused("no call of that id waits");
    for (const { call: id, action } of known) {
      const call = this.waiting.get(id);
      if (!call) continue; // it was decided in this very batch
      this.waiting.delete(id);
      if (action === "resume") await this.execute(call);
      else this.answer(call, "cancelled", "rejected");
    }
    return this.loop();
  }

  async loop() {
    while (!this.waiting.size) {
      const turn = await this.host.infer(this.thread);
      const calls = [...new Map(turn.tool_calls.map((call) => [call.id, call])).values()];
      this.thread.push({ role: "assistant", text: turn.text, tool_calls: calls });
      if (!calls.length) return { reason: "NaturalEnd" };
      for (const call of calls) {
        if (this.tools.get(call.name) === "ask") this.waiting.set(call.id, call);
        else if (this.tools.has(call.name)) await this.execute(call);
        else this.answer(call, "error", "there is no such tool");
      }
    }
    return { reason: "Suspended", pending: [...this.waiting.keys()] };
  }

  async execute(call) {
    const outcome = await this.host.tool(call.id, call.name, call.args);
    this.answer(call, outcome.kind, String(outcome.content));
  }

  answer(call, status, text) {
    this.thread.push({ role: "tool", call: call.id, status, text });
  }
}

serve(() => new Adapter());
