/**
 * A fold of your own over a session, kept up to date: which tools failed how often. Only entries of
 * the types that it names are read, and after the first pass only new ones.
 *
 * Prints:
 *   {}
 *   {"bash":1}
 *   {"bash":1,"edit":1}
 */
import { memorySession } from "@branchlog/core";
import { live } from "@branchlog/core/live";

/** A pure fold: a new state where something changed, else the same. */
const failures = {
  name: "failures",
  version: 1,
  types: ["message"],
  initial: () => ({}),
  apply: (state, { entry }) => {
    const { role, isError, toolName } = entry.message ?? {};
    if (role !== "toolResult" || isError !== true) return state;
    return { ...state, [toolName]: (state[toolName] ?? 0) + 1 };
  },
};

const result = (toolName, isError) => ({
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
for (const [tool, isError] of [
  ["bash", false],
  ["bash", true],
  ["edit", true],
]) {
  await session.append(result(tool, isError));
  await live(session).project(failures);
}
watching.unsubscribe();
