// Lays graphs out with ELK: reads a list of them as JSON, and writes the list with all coordinates.  It writes null
// for a graph that ELK cannot lay out with the options that it has.
"use strict";

const ELK = require(require.resolve("elkjs", { paths: [process.cwd()] }));

let text = "";
process.stdin.on("data", (part) => (text += part)).on("end", async () => {
  const elk = new ELK();
  const placed = [];
  for (const graph of JSON.parse(text)) placed.push(await elk.layout(graph).catch(() => null));
  process.stdout.write(JSON.stringify(placed));
});
