/** Telling known from unknown; unions narrow by their tags. The compiler checks the rest. */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import { isKnownEntry, normalizeName } from "@branchlog/core/entries";
import type {
  AnyEntry,
  CompactionEntry,
  KnownDraft,
  SessionMessageEntry,
  UserMessage,
} from "@branchlog/core/entries";
import { isKnownEntryType } from "../../../packages/core/src/entries/entry-types.ts";
import {
  isKnownMessage,
  type AnyMessage,
} from "../../../packages/core/src/entries/message-types.ts";

const base = { id: "a", parentId: null, timestamp: "2026-01-02T03:04:05.678Z" };

describe("entries", () => {
  it("are known by their type alone", () => {
    const foreign: AnyEntry = { type: "active_tools_change", ...base, tools: [] };
    const label: AnyEntry = { type: "label", targetId: "a", ...base };
    expect([foreign, label].map(isKnownEntry)).toEqual([false, true]);
    expect(["toString", "__proto__", "session", ""].filter(isKnownEntryType)).toEqual([]);
  });

  it("narrow by type, also after unknown ones were told apart", () => {
    const narrow = (entry: AnyEntry): void => {
      if (!isKnownEntry(entry)) return;
      expectTypeOf(entry).toEqualTypeOf<SessionEntry>();
      if (entry.type === "compaction") expectTypeOf(entry).toEqualTypeOf<CompactionEntry>();
      if (entry.type === "message") expectTypeOf(entry).toEqualTypeOf<SessionMessageEntry>();
    };
    narrow({ type: "label", targetId: "a", ...base });
  });

  it("have a draft for every type", () => {
    expectTypeOf<KnownDraft["type"]>().toEqualTypeOf<SessionEntry["type"]>();
  });
});

describe("messages", () => {
  it("are known by their role alone, and narrow by it", () => {
    const foreign: AnyMessage = { role: "hookMessage", content: "x" };
    const user: AnyMessage = { role: "user", content: "x", timestamp: 0 };
    expect([foreign, user].map(isKnownMessage)).toEqual([false, true]);
    expect(isKnownMessage({ role: "constructor" })).toBe(false);
    const narrow = (message: AgentMessage): void => {
      if (message.role === "user") expectTypeOf(message).toEqualTypeOf<UserMessage>();
    };
    narrow({ role: "user", content: "x", timestamp: 0 });
  });
});

describe("normalizeName", () => {
  it.each([
    ["  Refactor auth  ", "Refactor auth"],
    ["one\r\n\n two\rthree", "one  two three"],
    ["\n", ""],
    ["", ""],
  ])("makes %j one line", (name, expected) => {
    expect(normalizeName(name)).toBe(expected);
  });
});
