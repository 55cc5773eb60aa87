/** The conversation of a branch: every entry is shown once, in order, and sums are of entries. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core/entries";
import { entryParts } from "@branchlog/core/entries";
import { watchedSession } from "@branchlog/core/engine";
import { usage } from "@branchlog/core/rows";
import {
  rowsOfItem,
  TurnReader,
  sectionAt,
  sectionOfRow,
  turnFacts,
  turnItems,
  turnPath,
  turnRange,
} from "@branchlog/library/catalogs";
import type { PlacedEntry, RowRole, TurnItem } from "@branchlog/library/catalogs";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

type Part = Readonly<Record<string, unknown>>;

function placed(messages: readonly Part[]): PlacedEntry[] {
  return messages.map((message, row) => {
    const entry = { type: "message", id: `e${row}`, parentId: null, timestamp: "t", message };
    // Decoding boundary: as it could be stored.
    const role = String(message["role"]);
    const typed = entry as unknown as SessionEntry;
    return { row, timeMs: 1000 * row, type: "message", role, entry: typed };
  });
}

function call(id: string, name: string, given: unknown): Part {
  return {
    role: "assistant",
    content: [{ type: "toolCall", id, name, arguments: given }],
    usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } },
  };
}

function result(id: string, text: string, isError = false): Part {
  const content = [{ type: "text", text }];
  return { role: "toolResult", toolCallId: id, toolName: "bash", content, isError };
}

describe("the blocks of a turn", () => {
  it("join a call and its result, with exit code and time", () => {
    const entries = placed([
      { role: "user", content: "Run it." },
      call("c", "bash", { command: "npm test" }),
      result("c", "1 failed\n\nCommand exited with code 1", true),
    ]);
    expect(turnItems(entries)).toMatchObject([
      { kind: "prompt", row: 0, text: "Run it." },
      {
        kind: "call",
        row: 1,
        tool: "bash",
        use: { kind: "shell", command: "npm test" },
        result: {
          row: 2,
          text: "1 failed\n\nCommand exited with code 1",
          images: [],
          isError: true,
          exitCode: 1,
          durationMs: 1000,
        },
      },
    ]);
  });

  it("are notes for results without a call, and for a second result of a call", () => {
    const entries = placed([call("c", "bash", {}), result("c", "one"), result("c", "two")]);
    expect(turnItems(entries).map(({ kind, row }) => [kind, row])).toEqual([
      ["call", 0],
      ["note", 2],
    ]);
  });

  it("have the changed lines of an edit by any agent", () => {
    const kept = Array.from({ length: 9 }, (_, at) => `line ${at}`).join("\n");
    const [before, after] = [`${kept}\nold\nend`, `${kept}\nnew\nnewer\nend`];
    const all = [
      ["edit", { path: "a.ts", oldText: before, newText: after }],
      ["Edit", { file_path: "a.ts", old_string: before, new_string: after }],
      ["replace", { filePath: "a.ts", old_str: before, new_str: after }],
      ["MultiEdit", { file_path: "a.ts", edits: [{ old_string: before, new_string: after }] }],
    ] as const;
    for (const [name, given] of all) {
      const [item] = turnItems(placed([call("c", name, given)]));
      expect(item).toMatchObject({
        use: { kind: "edit", path: "a.ts", added: 2, removed: 1 },
      });
      const lines = item?.kind === "call" && item.use.kind === "edit" ? item.use.lines : [];
      expect(lines.map(({ text }) => text)).toEqual([
        "  line 7",
        "  line 8",
        "- old",
        "+ new",
        "+ newer",
        "  end",
      ]);
    }
  });

  it("describe other calls", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** End Patch";
    const uses = [
      ["shell", { command: ["bash", "-lc", "ls -la"] }, { kind: "shell", command: "ls -la" }],
      ["exec_command", { cmd: "ls" }, { kind: "shell", command: "ls" }],
      ["shell", '{"command":["ls","a"]}', { kind: "shell", command: "ls a" }],
      ["apply_patch", patch, { kind: "edit", path: "a.ts", added: 1, removed: 1 }],
      ["write", { path: "a", content: "x\ny\n" }, { kind: "write", added: 2, removed: 0 }],
      ["read", { path: "a", offset: 720, limit: 50 }, { kind: "read", range: "720–769" }],
      ["Grep", { pattern: "x", path: "src" }, { kind: "search", pattern: "x", path: "src" }],
      ["Task", { description: "Look", prompt: "Go." }, { kind: "task", title: "Look" }],
      [
        "weather",
        { city: "Rome", days: 2 },
        {
          kind: "other",
          fields: [
            ["city", "Rome"],
            ["days", "2"],
          ],
        },
      ],
      ["odd", null, { kind: "other", fields: [] }],
    ] as const;
    for (const [name, given, use] of uses) {
      expect(turnItems(placed([call("c", name, given)]))[0]).toMatchObject({ use });
    }
  });
});

const parts = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string() }),
  fc.record({ type: fc.constant("thinking"), thinking: fc.string() }),
  fc.record({ type: fc.constant("other"), value: fc.anything() }),
  fc.record({
    type: fc.constant("toolCall"),
    id: fc.constantFrom("a", "b"),
    name: fc.constantFrom("bash", "edit", "x"),
    arguments: fc.oneof(
      fc.dictionary(
        fc.constantFrom("path", "command", "oldText", "newText", "edits"),
        fc.jsonValue(),
      ),
      fc.jsonValue(),
    ),
  }),
);

const messages = fc.array(
  fc.oneof(
    fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.array(parts) }),
    fc.record({
      role: fc.constant("toolResult"),
      toolCallId: fc.constantFrom("a", "b", "c"),
      content: fc.array(parts, { maxLength: 2 }),
      isError: fc.boolean(),
    }),
    fc.record({ role: fc.constant("bashExecution"), command: fc.string(), output: fc.string() }),
  ),
  { maxLength: 30 },
);

/** How many parts of an entry must be blocks; a result is one whole. */
function blockCount({ entry }: PlacedEntry, items: readonly TurnItem[], row: number): void {
  const said = entry === undefined ? undefined : entryParts(entry);
  const count = said?.parts.length ?? 0;
  const own = items.filter((item) => item.row === row);
  const shown = items.filter((item) => rowsOfItem(item).includes(row));
  expect(shown.length).toBeGreaterThan(0);
  if (said?.speaker.role === "toolResult" && count > 0) {
    const asResult = shown.filter((item) => item.kind === "call" && item.row !== row);
    const asNote = own.filter(({ kind }) => kind === "note");
    expect(asResult.length + asNote.length).toBe(1);
  } else expect(own.length).toBe(Math.max(1, count));
}

describe("laws of the conversation", () => {
  it("every part of an entry is in exactly one block, in the order of the entries", () => {
    fc.assert(
      fc.property(messages, (given) => {
        const entries = placed(given);
        const items = turnItems(entries);
        for (const [row, entry] of entries.entries()) blockCount(entry, items, row);
        const rows = items.map(({ row }) => row);
        expect(rows).toEqual(rows.toSorted((one, other) => one - other));
      }),
    );
  });

  it("every entry of a branch is in exactly one section and one turn", () => {
    const roles = fc.array(fc.constantFrom<RowRole>("prompt", "answer", "other", "other"), {
      maxLength: 700,
    });
    fc.assert(
      fc.property(roles, (given) => {
        const rows = Int32Array.from(given, (_, at) => 3 * at);
        const path = turnPath(rows, (row) => given[row / 3] ?? "other");
        const seen: number[] = [];
        for (let section = 0; section < path.sections.length; section += 1) {
          const place = sectionAt(path, section);
          if (place === undefined) throw new Error("a section is absent");
          const range = turnRange(path, place.turn);
          expect(range.from).toBeLessThanOrEqual(place.from);
          expect(range.to).toBeGreaterThanOrEqual(place.to);
          for (let at = place.from; at < place.to; at += 1) {
            seen.push(at);
            expect(sectionOfRow(path, 3 * at)).toBe(section);
            if (given[at] === "prompt" && at > place.from) {
              expect(given.slice(0, at).every((role) => role === "other")).toBe(true);
            }
          }
        }
        expect(seen).toEqual(Array.from(rows.keys()));
        const spans = Array.from(path.turns.keys(), (turn) => turnRange(path, turn));
        expect(spans.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(rows.length);
      }),
    );
  });

  it("parts of a branch have every entry once, in the order of the path, each in its turn", async () => {
    const names = readdirSync(fixtures).filter((name) => /^(?:pi|omp).*\.jsonl$/.test(name));
    for (const name of names) {
      const session = await openSession(join(fixtures, name), { access: "read" });
      const { engine } = watchedSession(session);
      const reader = new TurnReader(engine);
      const path = reader.path(engine.rowPath(session.leaf).rows);
      const rows: number[] = [];
      const turns: number[] = [];
      for await (const { turn, entries } of reader.parts(path)) {
        const { from, to } = turnRange(path, turn);
        for (const { row } of entries) {
          expect(path.rows.subarray(from, to)).toContain(row);
          rows.push(row);
        }
        if (turns.at(-1) !== turn) turns.push(turn);
      }
      expect(rows).toEqual([...path.rows]);
      expect(turns).toEqual([...path.turns.keys()]);
      await session.close();
    }
  });

  it("sums of turns are the sums of their entries, however they are split", async () => {
    const names = readdirSync(fixtures).filter((name) => /^(?:pi|omp).*\.jsonl$/.test(name));
    for (const name of names) {
      const session = await openSession(join(fixtures, name), { access: "read" });
      const entries: PlacedEntry[] = [];
      let whole = usage.initial();
      for await (const entry of session.entries()) {
        const timeMs = Date.parse(entry.timestamp);
        const row = entries.length;
        entries.push({ row, timeMs, type: entry.type, role: undefined, entry });
        whole = usage.apply(whole, { revision: 0, entry });
      }
      await session.close();
      for (const at of [0, 1, Math.floor(entries.length / 2), entries.length]) {
        const [one, other] = [entries.slice(0, at), entries.slice(at)].map((half) =>
          turnFacts(half, turnItems(half)),
        );
        const tokens = (one?.usage.total.totalTokens ?? 0) + (other?.usage.total.totalTokens ?? 0);
        expect(tokens).toBe(whole.total.totalTokens);
        const requests = (one?.usage.total.requests ?? 0) + (other?.usage.total.requests ?? 0);
        expect(requests).toBe(whole.total.requests);
      }
    }
  });
});
