/** What the drop-in does otherwise than pi on purpose; docs/decisions/0013 says why. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SessionManager } from "@branchlog/agents/pi";
import type { AgentMessage } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { textsOf } from "../../core/projections/sample-entries.ts";
import { answer, inMemory, say } from "./managers.ts";

/** A message as JavaScript callers may give it, past the types. */
const untyped = (message: object): AgentMessage => message as AgentMessage;

describe("an entry that was handed out", () => {
  it("can be changed without changing the log, or later writes", () => {
    const manager = SessionManager.create("/work", temporaryDirectory());
    const first = say(manager, "kept");
    answer(manager, "kept as well");
    const path = manager.getSessionFile() ?? "";
    const before = readFileSync(path, "utf8");
    for (const one of [manager.getEntry(first), ...manager.buildContextEntries()]) {
      if (one?.type === "message") Object.assign(one.message, { content: "changed" });
    }
    const header = manager.getHeader();
    if (header !== null) Object.assign(header, { id: "changed" });
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(textsOf(SessionManager.open(path).buildSessionContext().messages)).toEqual([
      "kept",
      "kept as well",
    ]);
    manager.createBranchedSession(first);
    const copy = readFileSync(manager.getSessionFile() ?? "", "utf8").split("\n");
    expect(copy[1]).toBe(before.split("\n")[1]);
    expect(manager.getSessionId()).not.toBe("changed");
  });
});

it.each([
  [[{ content: "be brief" }], "be brief"],
  [[{ content: "be brief", timestamp: null }], "be brief"],
  [[{ content: "be brief" }, { content: "be kind", timestamp: 1 }], "be brief\n\nbe kind"],
  [
    [{ content: "be brief", toolsAdded: [{ name: "t" }] }, { toolsRemoved: [{ name: "t" }] }],
    "be brief",
  ],
])("a system message without a time outlives a compaction: %j", (messages, content) => {
  const manager = inMemory();
  for (const one of messages) manager.appendMessage(untyped({ role: "system", ...one }));
  const kept = say(manager, "kept");
  const id = manager.appendCompaction("summary", kept, 10);
  // pi 1.5.2 drops the prompt if no system message has a time and no tools are left.
  const systemMessage = { role: "system", content, timestamp: Date.UTC(2026, 0, 1) };
  expect(manager.getEntry(id)).toMatchObject({ systemMessage });
  expect(textsOf(manager.buildSessionContext().messages)).toEqual([content, "summary", "kept"]);
});
