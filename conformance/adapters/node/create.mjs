#!/usr/bin/env node
// `npx runlock-adapter DIR` writes a working adapter with its test, as `runlock new-adapter --lang node DIR` does.

import { constants, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FILES = ["runlock.mjs", "adapter.mjs", "adapter.test.mjs"];
const [folder, ...more] = process.argv.slice(2);

if (!folder || folder.startsWith("-") || more.length) {
  console.error("runlock-adapter: Name one folder, as in `npx runlock-adapter DIR`.");
  process.exit(2);
}
try {
  mkdirSync(folder, { recursive: true });
  for (const name of FILES) {
    copyFileSync(fileURLToPath(new URL(name, import.meta.url)), join(folder, name), constants.COPYFILE_EXCL);
  }
} catch (error) {
  console.error(`runlock-adapter: ${error.message}`);
  process.exit(2);
}
console.log(`Next: cd ${folder}, and there \`runlock check 'cmd:node adapter.mjs'\` (\`uvx runlock\` brings the command).`);
