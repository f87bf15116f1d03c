// The agent holds: `runlock check` breaks no clause of it.  Run it with `node --test`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

test("the agent holds", () => {
  const adapter = fileURLToPath(new URL("adapter.mjs", import.meta.url));
  const results = mkdtempSync(join(tmpdir(), "runlock-"));
  const words = ["check", `cmd:'${process.execPath}' '${adapter}'`, "--examples", "60", "--jobs", "1", "-o", results];
  const ran = spawnSync(process.env.RUNLOCK ?? "runlock", words, { encoding: "utf8" });
  const missing = "The command runlock was not found. Install the kit, or set the variable RUNLOCK to its path.";
  assert.notEqual(ran.error?.code, "ENOENT", missing);
  assert.equal(ran.status, 0, `${ran.error ?? ""}${ran.stdout ?? ""}${ran.stderr ?? ""}`);
});
