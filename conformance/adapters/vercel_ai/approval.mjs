// Which calls need approval: those of tools that ask, and those of a tool behind a gate of which the kit says so.
//
// Version 6 asks a function of the tool, and version 7 one of the request, which may deny a call as well.  Neither
// is given a signal: the library looks at its own when it has the answer.

import about from "ai/package.json" with { type: "json" };

const STATUS = { allow: "not-applicable", block: "denied", suspend: "user-approval" };

/** Whether a function may deny a call. */
const denies = !about.version.startsWith("6.");

export const verdicts = denies ? ["allow", "block", "suspend"] : ["allow", "suspend"];

/** What the documentation of version 7 promises: at agents/tool-approvals a denied call is told to the model, and
 * the loop goes on; at ai-sdk-core/tools-and-tool-calling the calls of a step are executed concurrently, and those
 * that are at work when the operation is aborted get the signal. */
export const policies = denies
  ? { "round.block": "fail_call", "round.executor": "parallel", "cancel.inflight": "abort" }
  : {};

/** What troubleshooting/missing-tool-results-error of version 7 says of a new message while a call has no response. */
export const refusals = denies ? { "input.waiting": "refuse" } : {};

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

/** A listener of steps that takes their messages: version 7 gives those of a step, version 6 all of the request. */
export function newMessages(take) {
  let before = 0;
  return ({ response: { messages } }) => {
    take(denies ? messages : messages.slice(before));
    before = messages.length;
  };
}
