/* A trace as moments, one for each stimulus: what was done, what was seen, and where everything then stands. */
"use strict";

const STATUSES = {
  lifecycle: { call: "ToolCall", run: "RunWithCreated" },
  "message-loop": { call: "CallStatus", run: "TurnStatus" },
};
/* By family: the charts of the statuses that its runtimes show. */

/* The moments of a trace, its verdict in words, the data of its family, and the charts of its statuses. */
function traceIn(text, data) {
  const records = text.split("\n").map((line, at) => line.trim() && parsed(line, at + 1)).filter(Boolean);
  const name = records.find((one) => one.handshake)?.handshake.family ?? "lifecycle";
  const family = Object.hasOwn(data.families, name) ? data.families[name] : data;
  const charts = STATUSES[name] ?? {};
  return { moments: moments(records, family, charts), verdict: verdict(records), family, charts };
}

function parsed(line, number) {
  try {
    const record = JSON.parse(line);
    if (record && typeof record === "object" && !Array.isArray(record)) return record;
  } catch {
    /* said below */
  }
  throw new Error(`Line ${number} is no record of a trace; each line of one is a JSON object with one key.`);
}

function verdict(records) {
  const { clause, because } = records.find((one) => one.end?.verdict)?.end.verdict ?? {};
  return clause ? `${clause}: ${because}` : (because ?? "");
}

function moments(records, family, charts) {
  const found = [];
  const stands = { run: "", calls: {}, gates: {} };
  const known = { call: family.charts[charts.call], run: family.charts[charts.run] };
  for (const record of records) {
    if (record.stimulus?.method === "recover") continue;
    if (record.stimulus || record.crash) {
      const did = record.crash ? "crash and recover" : told(record.stimulus, stands);
      found.push({ did, saw: [], odd: [], run: "", calls: {} });
    }
    const now = found.at(-1);
    if (!now) continue;
    if (record.stimulus) stimulate(record.stimulus, stands);
    if (record.observation) observe(record.observation, stands, now, known);
    for (const one of record.report?.refused ?? []) now.saw.push(`refused: ${one.why}`);
    Object.assign(now, { run: stands.run, calls: { ...stands.calls } });
  }
  if (!found.length) throw new Error("Nothing happens in this trace; one that can be played holds a stimulus.");
  return found;
}

function told({ method, params }, stands) {
  const decisions = (list) => list.map((one) => `${one.call} ${one.action} (${one.id})`).join(", ");
  if (method === "run.start") return `start ${params.run} ${JSON.stringify(params.input ?? "")}`;
  if (method === "decide") return `decide ${decisions(params.decisions)}`;
  if (method === "deliver") return `race: ${params.stimuli.map((one) => told(one, stands)).join(" | ")}`;
  if (method === "clock.advance") return `${params.ms} ms pass`;
  if (method !== "gate.release") return `${method} ${params.run ?? ""}`.trim();
  const gate = stands.gates[params.gate] ?? { on: params.gate };
  const outcome = params.outcome;
  if (gate.on === "model" && outcome.kind === "turn") {
    const calls = (outcome.tool_calls ?? []).map((call) => `${call.id} ${call.name}`);
    return calls.length ? `model asks ${calls.join(", ")}` : `model ends ${JSON.stringify(outcome.text ?? "")}`;
  }
  return `${gate.on}${gate.call ? ` ${gate.call}` : ""} answers ${outcome.kind}`;
}

/* What follows from gates alone; a status that is shown replaces it. */
function stimulate({ method, params }, stands) {
  if (method === "deliver") params.stimuli.forEach((one) => stimulate(one, stands));
  if (method === "run.start") Object.assign(stands, { run: "Running" });
  if (method !== "gate.release") return;
  const gate = stands.gates[params.gate];
  for (const call of params.outcome.tool_calls ?? []) if (gate?.on === "model") stands.calls[call.id] = "New";
  const after = { ok: "Succeeded", warning: "Succeeded", error: "Failed", raise: "Failed", pending: "Suspended" };
  if (gate?.on === "tool" && after[params.outcome.kind]) stands.calls[gate.call] = after[params.outcome.kind];
}

function observe(seen, stands, now, charts) {
  if (seen.kind === "gate.open") {
    stands.gates[seen.gate] = { on: seen.on, call: seen.call };
    if (seen.on === "tool") stands.calls[seen.call] = "Running";
    const known = { model: "the model is asked", tool: `tool ${seen.call} is entered`, yield: "a turn is yielded" };
    now.saw.push(known[seen.on] ?? `${seen.on} is asked`);
  } else if (seen.kind === "call.status") {
    check(charts.call, `call ${seen.call}`, seen, now);
    stands.calls[seen.call] = seen.to;
    now.saw.push(`${seen.call} is ${seen.to}`);
  } else if (seen.kind === "run.status") {
    check(charts.run, "the run", seen, now);
    stands.run = seen.to;
    now.saw.push(`the run is ${seen.to}`);
  } else if (seen.kind === "run.finished") {
    for (const call of seen.pending ?? []) stands.calls[call] = "Suspended";
    stands.run = seen.reason?.code === "Suspended" ? "Waiting" : "Done";
    now.saw.push(`the segment ends: ${seen.reason?.code ?? ""}`);
  }
}

/* A move that the chart does not draw is odd, whatever the rest of the trace says. */
function check(chart, who, seen, now) {
  if (!chart || !seen.from || seen.from === seen.to) return;
  const drawn = chart.arrows.some((arrow) => arrow.from === seen.from && arrow.to === seen.to);
  const clause = stateOf(chart, seen.from)?.closed;
  if (!drawn) now.odd.push(`${who} went from ${seen.from} to ${seen.to}, which no arrow of ${chart.chart} does (${clause})`);
}

/* The lines up to a step, what is said there, and whether the trace broke there: the kit sends nothing more once a
   clause is broken, so that is the last step. */
function upTo(every, ids, because, at) {
  const isBroken = Boolean(because) && at === every.length;
  const lines = every.slice(0, at).map((moment, number) => {
    const looks = isBroken && number === at - 1 ? "broke" : moment.odd.length ? "refused" : "";
    return [[...ids.map((id) => moment.calls[id] ?? ""), moment.run], happened(moment, looks), looks];
  });
  const next = at < every.length && `${at} of ${every.length} steps were played. Next: ${every[at].did}`;
  const end = isBroken ? `It broke here, at the last of ${every.length} steps.` : "All steps were played.";
  return { lines, said: next || end, isBroken };
}

function happened(moment, looks) {
  const seen = [moment.did, ...moment.saw].join(", ");
  const odd = moment.odd.length ? ` — ${moment.odd.join("; ")}` : "";
  return seen + odd + (looks === "broke" ? " — it broke here" : "");
}

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
