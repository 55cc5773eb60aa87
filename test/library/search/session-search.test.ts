/** Searching what was said in the sessions of a directory. */
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { searchSessions } from "@branchlog/library";
import type { SearchHit } from "@branchlog/library";
import type { SessionEntry } from "@branchlog/core/entries";
import { entryTexts } from "../../../packages/library/src/search/entry-texts.ts";
import { textSearch } from "../../../packages/library/src/search/search-query.ts";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { arbitraryLines } from "../catalog/arbitrary-session.ts";
import { assistant, entry, header, name, user, writeLines } from "../catalog/session-lines.ts";

const hits = (directory: string, query: string): Promise<SearchHit[]> =>
  collected(searchSessions(directory, query));

const fixtures = fileURLToPath(new URL("../../../fixtures", import.meta.url));

describe("searching sessions", () => {
  it("finds text of users and assistants, names and labels, with context", async () => {
    const directory = temporaryDirectory();
    writeLines(directory, "s.jsonl", [
      header(),
      user("Why is the BUILD red?"),
      assistant([{ type: "text", text: "The “build” is red since \u00fcber-commit." }]),
      entry("label", { targetId: "00000001", label: "red build" }),
      name("Repair the build"),
      entry("custom", { customType: "x", data: "build" }),
      entry("message", { message: { role: "toolResult", content: "build" } }),
    ]);
    const found = await hits(directory, " build ");
    expect(found.map(({ kind, role }) => role ?? kind)).toEqual([
      "user",
      "assistant",
      "label",
      "name",
      "toolResult",
    ]);
    const [first] = found;
    const { text = "", matchStart, matchEnd } = first?.snippet ?? {};
    expect(text.slice(matchStart, matchEnd)).toBe("BUILD");
    expect((await hits(directory, "ÜBER"))[0]?.role).toBe("assistant");
    expect((await hits(directory, "rprbld"))[0]?.kind).toBe("name");
    expect(await hits(directory, "")).toEqual([]);
    expect(await hits(directory, "no such text")).toEqual([]);
  });

  it("starts with the session that changed last, and includes all subdirectories", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "below"));
    const places = [directory, directory, join(directory, "below")];
    const paths = places.map((place, n) => writeLines(place, `${n}.jsonl`, [header(), user("hi")]));
    for (const [n, path] of paths.entries()) utimesSync(path, n + 1, n + 1);
    symlinkSync(join(directory, "nowhere"), join(directory, "dangling.jsonl"));
    const found = await hits(directory, "hi");
    expect(found.map(({ path }) => path)).toEqual([paths[2], paths[1], paths[0]]);
  });

  it("returns the entry ids of the session, also of version 1", async () => {
    for await (const { path, entryId, kind } of searchSessions(fixtures, "one")) {
      const session = await openSession(path, { access: "read" });
      const stored = await session.entry(entryId);
      expect(stored, `${path} ${entryId}`).toBeDefined();
      expect(stored && entryTexts(stored).map((text) => text.kind)).toContain(kind);
    }
  });

  it("finds the titles that omp gave a session, as names", async () => {
    const directory = temporaryDirectory();
    const title = entry("title_change", { title: "Mend the roof", source: "user" });
    writeLines(directory, "s.jsonl", [header(), title]);
    expect(await hits(directory, "roof")).toMatchObject([{ kind: "name" }]);
  });

  it("handles long queries and names, in any case", async () => {
    const directory = temporaryDirectory();
    const long = "ab".repeat(20_000);
    const lines = [
      header(),
      user(`x ${long} y`),
      name("a".repeat(30_000)),
      user("İstanbul STRASSE"),
    ];
    writeLines(directory, "s.jsonl", lines);
    expect((await hits(directory, long)).length).toBe(1);
    expect(await hits(directory, `${"a".repeat(50)}b`)).toEqual([]);
    const [found] = await hits(directory, "STANBUL strasse");
    const { text = "", matchStart, matchEnd } = found?.snippet ?? {};
    expect(text.slice(matchStart, matchEnd)).toBe("stanbul STRASSE");
    expect(await hits(directory, "\ud800")).toEqual([]);
  });

  it("ignores lines that are not entries of the session", async () => {
    const directory = temporaryDirectory();
    const message = { role: "user", content: "hi", timestamp: 1 };
    writeLines(directory, "s.jsonl", [header(), { type: "message", message }]);
    expect(await hits(directory, "hi")).toEqual([]);
    const { version: _, ...old } = header() as { version: number };
    const path = writeLines(directory, "v1.jsonl", [
      old,
      { type: "message", id: "stored", timestamp: "2026-01-01T00:00:00.000Z", message },
    ]);
    const [found] = await hits(directory, "hi");
    const session = await openSession(path, { access: "read" });
    expect((await session.entry(found?.entryId ?? ""))?.type).toBe("message");
  });

  it("finds text in one session file, and returns its absolute path", async () => {
    const directory = temporaryDirectory();
    const path = writeLines(directory, "s.jsonl", [header(), user("hi")]);
    writeLines(directory, "other.jsonl", [header(), user("hi")]);
    expect((await hits(path, "hi")).map((hit) => hit.path)).toEqual([path]);
    const [file, place] = [path, directory].map((named) => relative(process.cwd(), named));
    expect((await hits(file ?? "", "hi")).map((hit) => hit.path)).toEqual([path]);
    expect((await hits(place ?? "", "hi")).map((hit) => hit.path)).toContain(path);
  });

  it("fails with a code for a path that is neither a directory nor a file", async () => {
    const path = join(temporaryDirectory(), "gone");
    await expect(hits(path, "x")).rejects.toMatchObject({ code: "ERR_LOG_MISSING", path });
    const within = join(writeLines(temporaryDirectory(), "s.jsonl", [header()]), "below");
    const unreadable = { code: "ERR_LOG_UNREADABLE", path: within };
    await expect(hits(within, "x")).rejects.toMatchObject(unreadable);
  });

  it("ends at an abort with its reason, or when its caller stops", async () => {
    const ending = new AbortController();
    const search = searchSessions(fixtures, "e", { signal: ending.signal });
    expect((await search.next()).done).toBe(false);
    ending.abort(new Error("enough"));
    await expect(async () => {
      while ((await search.next()).done !== true);
    }).rejects.toThrow("enough");
    for await (const { kind } of searchSessions(fixtures, "e")) {
      expect(kind).toBeDefined();
      break;
    }
  });

  it("finds the same as a full parse, for any file", async () => {
    const query = fc.constantFrom("hi", "SAY", "“ü”", '"quoted"', "}}", "a");
    await fc.assert(
      fc.asyncProperty(arbitraryLines, query, async (lines, wanted) => {
        const directory = temporaryDirectory();
        writeLines(directory, "s.jsonl", [header(), ...lines]);
        const found = await hits(directory, wanted);
        expect(found.map(({ kind }) => kind)).toEqual(expectedKinds(lines, wanted));
      }),
      { numRuns: 150 },
    );
  });
});

interface Stored {
  readonly id?: unknown;
}

function parsed(line: string): Stored | null {
  try {
    return JSON.parse(line.trim()) as Stored | null;
  } catch {
    return null;
  }
}

/** The plainest way: split, parse, look. */
function expectedKinds(lines: readonly string[], wanted: string): string[] {
  const search = textSearch(wanted);
  return lines.flatMap((line) => {
    const value = parsed(line);
    if (typeof value !== "object" || value === null || typeof value.id !== "string") return [];
    // Decoding boundary: what stands in the line, as the search takes it.
    const texts = entryTexts(value as unknown as SessionEntry);
    const found = texts.find(({ kind, text }) => {
      return kind === "name" ? search.inName(text) : search.inText(text);
    });
    return found === undefined ? [] : [found.kind];
  });
}

it("a snippet has the match, for any text, and never half a character", () => {
  const text = fc.string({ unit: "binary", maxLength: 400 });
  fc.assert(
    fc.property(text, fc.string({ unit: "grapheme", minLength: 1 }), text, (a, wanted, b) => {
      const found = textSearch(wanted).inText(`${a}${wanted}${b}`);
      if (wanted.trim() === "") {
        expect(found).toBeUndefined();
        return;
      }
      const { text: around = "", matchStart, matchEnd } = found ?? {};
      const match = around.slice(matchStart, matchEnd);
      expect(textSearch(wanted).inText(match)?.text).toBe(match);
      expect(Buffer.from(around).toString()).toBe(around);
    }),
    { examples: [["", " ", ""]] },
  );
});
