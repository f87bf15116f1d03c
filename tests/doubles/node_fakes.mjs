// An adapter on the JavaScript face whose runs do what their input says; started with the path of that face.

import { readFile } from "node:fs/promises";

const { Refused, serve } = await import(process.argv[2]);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const soon = () => new Promise((done) => setImmediate(done));

const DOES = {
  sleeps: async () => {
    const [began, ran] = [Date.now(), performance.now()];
    await sleep(1000);
    return `it is ${Date.now() - began} ms later, by all clocks ${new Date() - began === performance.now() - ran}`;
  },
  dates: async () => new Date().toISOString(),
  ticks: async () => {
    for (let tick = 0; tick < 3; tick++) await new Promise((done) => {
      const timer = setInterval(() => (clearInterval(timer), done()), 10);
    });
    return "ticked";
  },
  reads: async () => `read ${(await readFile(process.argv[1])).length > 0}`,
  hurries: async () => (await soon(), await soon(), await Promise.resolve(), "soon"),
  spins: async () => {
    for (;;) await soon();
  },
  prints: async () => (console.log("a word"), process.stdout.write("another\n"), "printed"),
  strays: async () => void Promise.reject(new RangeError("nobody awaits this")),
  throws: async () => {
    throw new TypeError("no such thing");
  },
};

class Toy {
  handshake = {
    implementation: { name: "toy", version: "1" },
    gates: ["model", "permission", "tool", "hook", "store.put"],
    observes: ["call.status"],
    policies: {},
  };

  open(host, scenario) {
    if (scenario.scenario === "closed") throw new Error("we are closed");
    Object.assign(this, { host, scenario, stop: new AbortController() });
  }

  async start(input) {
    if (input === "7") return 7;
    if (input === "asks") return this.asks();
    if (input === "suspends") {
      this.host.observe("call.status", { call: "c1", from: "Running", to: "Suspended" });
      return { reason: "Suspended", pending: ["c1"] };
    }
    if (input === "permits") {
      const { kind } = await this.host.permit("c1", "t0", { v: 1 });
      return this.waits(kind);
    }
    if (input === "late") return this.isLate();
    if (input === "nests") return this.nests();
    if (input === "hooks") await this.host.hook("RunStart", { state: {} });
    if (input === "acts") await this.host.tool("c1", "t0", {}, { signal: this.stop.signal });
    if (input === "works") await this.host.tool("c1", "t0", {}, { activity: (told) => this.tell(told) });
    if (input === "stores") await this.host.commit({ trigger: "UserMessage", state: { run: { status: "Running" } } });
    const detail = await DOES[input]?.();
    return { reason: { code: "NaturalEnd", detail } };
  }

  tell(name) {
    this.host.observe("event", { stream: "native", name, watcher: this.watcher ?? null });
  }

  watch(watcher) {
    this.watcher = watcher;
    this.tell("hello");
  }

  unwatch() {
    this.tell("gone");
  }

  async asks() {
    const { text } = await this.host.infer([], { signal: this.stop.signal });
    return { reason: { code: "NaturalEnd", detail: text } };
  }

  async nests() {
    const inner = this.host.within("c1");
    await inner.infer([]);
    const { kind } = await inner.tool("c2", "t0", {});
    inner.observe("call.status", { call: "c2", from: "Running", to: "Suspended" });
    await this.host.infer([]);
    return this.waits(kind);
  }

  async isLate() {
    const signal = AbortSignal.abort();
    for (const asked of [this.host.infer([], { signal }), this.host.tool("c1", "t0", {}, { signal })]) {
      await asked.catch(({ constructor: { name } }) => this.tell(name));
    }
    return { reason: "Cancelled" };
  }

  async decide(decisions) {
    for (const one of decisions.slice(1)) this.host.refuse("one at a time", one.id);
    if (decisions[0].call !== "c1") throw new Refused("nobody asked", decisions[0].id);
    const { name = "t0", args = {} } = decisions[0].edit ?? {};
    const { kind, content } = await this.host.tool("c1", name, args);
    if (kind === "pending") return this.waits(kind);
    return { reason: { code: "NaturalEnd", detail: content } };
  }

  waits(why) {
    this.host.observe("call.shown", { call: "c1", name: "t0", args: { why } });
    return { reason: "Suspended", pending: ["c1"] };
  }

  cancel() {
    this.stop.abort();
  }

  checkpoint() {
    return { asked: true };
  }

  async restore(host, scenario, state) {
    this.open(host, scenario);
    this.kept = state;
  }

  async resumeRun() {
    return this.asks();
  }

  inspect() {
    return { status: "Running", kept: this.kept ?? null };
  }
}

serve(() => new Toy());
