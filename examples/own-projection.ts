/**
 * A fold of your own over a session, kept up to date: which tools failed how often. Only entries of
 * the types that it names are read, and after the first pass only new ones.
 *
 * Prints:
 *   {}
 *   {"bash":1}
 *   {"bash":1,"edit":1}
 */
import { memorySession } from "branchlog";
import type { EntryDraft, Projection } from "branchlog";
import { live } from "branchlog/live";

/** A pure fold: a new state where something changed, else the same. */
const failures: Projection<Readonly<Record<string, number>>> = {
  name: "failures",
  version: 1,
  types: ["message"],
  initial: () => ({}),
  apply: (state, { entry }) => {
    if (entry.type !== "message" || entry.message.role !== "toolResult") return state;
    const { isError, toolName } = entry.message;
    if (!isError) return state;
    return { ...state, [toolName]: (state[toolName] ?? 0) + 1 };
  },
};

const result = (toolName: string, isError: boolean): EntryDraft => ({
  type: "message",
  message: {
    role: "toolResult",
    toolCallId: "1",
    toolName,
    content: [{ type: "text", text: "…" }],
    isError,
    timestamp: 0,
  },
});

const session = await memorySession({ cwd: "/work" });
const watching = live(session)
  .project$(failures)
  .subscribe(({ value }) => {
    console.log(JSON.stringify(value));
  });
await live(session).project(failures); // What there is so far, once.
for (const draft of [result("bash", false), result("bash", true), result("edit", true)]) {
  await session.append(draft);
  await live(session).project(failures);
}
watching.unsubscribe();
