// Which calls need approval: those of tools that ask, and those of a tool behind a gate of which the kit says so.
//
// Version 6 asks a function of the tool, and version 7 one of the request, which may deny a call as well.  Neither
// is given a signal: the library looks at its own when it has the answer.

import about from "ai/package.json" with { type: "json" };

const STATUS = { allow: "not-applicable", block: "denied", suspend: "user-approval" };

/** Whether a function may deny a call. */
const denies = !about.version.startsWith("6.");

export const verdicts = denies ? ["allow", "block", "suspend"] : ["allow", "suspend"];

/** What the documentation promises of a call that is denied: the model is told so, and the loop goes on. */
export const policies = denies ? { "round.block": "fail_call" } : {};

/** The function or the answer for a tool of version 6. */
export function needsApproval(host, { name, permission }) {
  if (permission !== "gate") return permission === "ask";
  return async (args, { toolCallId }) => (await host.permit(toolCallId, name, args)).kind === "suspend";
}

/** The functions or the answers for the tools of a request of version 7, which comes before what a tool says. */
export function toolApproval(host, tools) {
  const status = ({ name, permission }) => {
    if (permission !== "gate") return permission === "ask" ? STATUS.suspend : STATUS.allow;
    return async (args, { toolCallId }) => STATUS[(await host.permit(toolCallId, name, args)).kind];
  };
  return Object.fromEntries(tools.map((spec) => [spec.name, status(spec)]));
}
