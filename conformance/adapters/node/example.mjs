// The adapter of the small runtime next to it: it translates, and decides nothing.

import { Refused, ToolRaised, serve } from "./runlock.mjs";
import { Runtime } from "./runtime.mjs";

const RULES = { allow: "runs", ask: "waits", gate: "asks" };
const ENDS = { complete: "NaturalEnd", cancelled: "Cancelled", failed: "Error" };

class Adapter {
  handshake = {
    implementation: { name: "small-runtime", version: "1.0", language: "javascript" },
    profile: "core",
    policies: { "round.executor": "parallel", resume: "partial" },
    gates: ["model", "permission", "tool"],
    stimuli: ["decide", "cancel", "cancel.waiting", "run.again", "clock.advance", "deliver"],
    decisions: { live: false, ids: false, payload: false },
  };

  open(host, scenario) {
    const world = {
      think: (thread, signal) => host.infer(thread, { signal }),
      may: ({ id, name, args }, signal) => host.permit(id, name, args, { signal }),
      act: ({ id, name, args }, signal) => this.act(host, id, name, args, signal),
    };
    this.runtime = new Runtime(world, new Map(scenario.tools.map((tool) => [tool.name, RULES[tool.permission]])));
  }

  async act(host, id, name, args, signal) {
    try {
      return await host.tool(id, name, args, { signal });
    } catch (error) {
      if (error instanceof ToolRaised) return { kind: "error", content: error.message };
      throw error;
    }
  }

  async start(input) {
    return this.segment(await this.runtime.say(input));
  }

  async decide(decisions) {
    const known = this.runtime.waiting(decisions.map((one) => one.call));
    if (!known.length) throw new Refused("no call of that id waits");
    const approvals = new Map();
    for (const { call, action } of decisions) {
      if (!approvals.has(call)) approvals.set(call, { approved: action === "resume" }); // the first one counts
    }
    return this.segment(await this.runtime.resolve(approvals));
  }

  async cancel() {
    const waits = this.runtime.waiting().length > 0;
    const over = this.runtime.cancel();
    return waits ? this.segment(over) : undefined; // else the segment under way says how it ended
  }

  segment(ended) {
    return { reason: ENDS[ended.state] ?? "Suspended", pending: ended.waiting };
  }
}

serve(() => new Adapter());
