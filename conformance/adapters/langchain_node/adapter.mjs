// LangChain's agent behind the hosted interface, offline: a chat model that asks the kit, and a saver in memory.
//
// What asks is its middleware for human approval: one interrupt for all calls of a turn that need it, which a
// `Command` answers by position.  The saver stands for one that is durable: what it holds survives a crash.

import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import about from "langchain/package.json" with { type: "json" };
import { Refused, serve, unlessAborted } from "./runlock.mjs";
import { KitModel } from "./model.mjs";

const THREAD = { configurable: { thread_id: "thread" } };
const ANSWERS = { resume: { type: "approve" }, cancel: { type: "reject" } };

/** Of the arguments of a call, one is the kit's id of it. */
const idOf = ({ args }) => args.k;

/** What is decided of what was asked, in the words of the middleware. */
function answer({ name, args }, { action, edit }) {
  return edit ? { type: "edit", editedAction: { name, args, ...edit } } : ANSWERS[action];
}

class Adapter {
  handshake = {
    implementation: { name: "langchain", version: about.version, language: "javascript" },
    profile: "core",
    // At https://docs.langchain.com/oss/javascript/ langgraph/persistence keeps the state, and
    // langchain/human-in-the-loop asks for a decision on each call, executes what is approved, and lets a
    // decision edit the tool and the arguments; ToolNode.ts makes a message of an error, and its reference has the
    // calls of a turn run in parallel.
    policies: {
      state: "runtime", resume: "all_or_nothing", "decision.modes": ["replay"], "edit.tool": "taken",
      "tool.raises": "failed_call", "round.executor": "parallel",
    },
    gates: ["model", "tool"],
    observes: ["call.shown"],
    stimuli: ["decide", "cancel", "run.again", "run.input", "clock.advance", "deliver"],
    inputs: { working: false },
    outcomes: { tool: ["ok", "raise"] },
    tools: ["allow", "ask", "unabortable"],
    // "Fault tolerance" of langgraph/persistence there: what comes next tries again what an error or a cancel ended.
    decisions: {
      live: false, ids: false, suspensions: false, payload: false, edit: ["args", "name"],
      after_error: false, after_cancel: false,
    },
  };

  open(host, { tools }) {
    this.host = host;
    this.saver = new MemorySaver();
    this.stop = new AbortController();
    this.asked = []; // what the interrupt asks for, in its order
    const asking = tools.filter(({ permission }) => permission === "ask").map(({ name }) => name);
    const allowedDecisions = ["approve", "edit", "reject"];
    const interruptOn = Object.fromEntries(asking.map((name) => [name, { allowedDecisions }]));
    this.agent = createAgent({
      model: new KitModel(host),
      tools: tools.map((spec) => this.tool(spec)),
      middleware: [humanInTheLoopMiddleware({ interruptOn })],
      checkpointer: this.saver,
    });
  }

  start(text) {
    return this.run({ messages: [{ role: "user", content: text }] });
  }

  input(text) {
    return this.start(text);
  }

  async decide(decisions) {
    // Invoked although nothing is interrupted, it would try again what an error ended, or a cancel.
    if (!(await this.waiting()).length) throw new Refused("nothing is interrupted");
    if (!decisions.every(({ call }) => this.asked.some((one) => idOf(one) === call))) {
      throw new Refused("answers are given by position, and no call of that id has one");
    }
    const decided = Object.fromEntries(decisions.map((one) => [one.call, one]));
    const given = this.asked.filter((one) => idOf(one) in decided).map((one) => answer(one, decided[idOf(one)]));
    return this.run(new Command({ resume: { decisions: given } }));
  }

  cancel() {
    this.stop.abort();
  }

  checkpoint() {
    return { storage: this.saver.storage, writes: this.saver.writes };
  }

  async restore(host, scenario, { storage, writes }) {
    this.open(host, scenario);
    Object.assign(this.saver, { storage, writes });
    if (!(await this.state()).values.messages) throw new Refused("nothing was durable");
  }

  async resumeRun() {
    const { next } = await this.state();
    return next.length && !(await this.waiting()).length ? this.run(null) : this.left();
  }

  async run(given) {
    const { signal } = (this.stop = new AbortController());
    try {
      await this.agent.invoke(given, { ...THREAD, signal, durability: "sync" });
    } catch (error) {
      if (!signal.aborted) throw error;
      return { reason: "Cancelled" };
    }
    return this.left();
  }

  async left() {
    this.asked = await this.waiting();
    for (const { name, args } of this.asked) this.host.observe("call.shown", { call: args.k, name, args });
    return { reason: this.asked.length ? "Suspended" : "NaturalEnd", pending: this.asked.map(idOf) };
  }

  state() {
    return this.agent.getState(THREAD);
  }

  /** What the interrupt asks for: the tool and the arguments of each call that needs approval. */
  async waiting() {
    const { tasks } = await this.state();
    return tasks.flatMap((task) => task.interrupts).flatMap(({ value }) => value.actionRequests);
  }

  tool({ name }) {
    const execute = async (args, { toolCallId: call, signal }) => {
      return (await unlessAborted(signal, this.host.tool(call, name, args, { signal }))).content;
    };
    return tool(execute, { name, description: name, schema: { type: "object", properties: {} } });
  }
}

serve(() => new Adapter());
