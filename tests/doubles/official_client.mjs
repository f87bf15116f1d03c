// The client that AG-UI publishes: one thread at a URL, which it approves, or rejects, as the second argument says.
// It verifies each stream itself, and ends with an error if one breaks the protocol.
import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [url, text, approved] = process.argv.slice(2);
const agent = new HttpAgent({ url, threadId: `thread-${text}` });
const shown = (message) => ({
  role: message.role,
  content: message.content ?? "",
  calls: (message.toolCalls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
});

agent.addMessage({ id: "u1", role: "user", content: text });
await agent.runAgent();
const asked = agent.pendingInterrupts.map((one) => one.toolCallId);
const answers = agent.pendingInterrupts.map((one) => [
  one.id,
  { status: "resolved", payload: { approved: approved === "yes" } },
]);
if (asked.length > 0) {
  await agent.runAgent({ resume: buildResumeArray(agent.pendingInterrupts, Object.fromEntries(answers)) });
}
const left = agent.pendingInterrupts.length;
console.log(JSON.stringify({ asked, left, messages: agent.messages.map(shown) }));
