/** What a search can be narrowed to, over entries of every kind and transcripts of other agents. */
import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { firstValueFrom, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { archiveStore, searchSessions } from "@branchlog/library";
import type { SearchHit, SearchOptions } from "@branchlog/library";
import { search$ } from "@branchlog/library/live";
import { decodeCounter } from "@branchlog/streaming";
import { LineFilter } from "../../../packages/library/src/search/line-filter.ts";
import { textSearch } from "../../../packages/library/src/search/search-query.ts";
import { collected } from "../../support/collected.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { assistant, entry, header, name, user, writeLines } from "../catalog/session-lines.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");

const hits = (...asked: Parameters<typeof searchSessions>): Promise<SearchHit[]> =>
  collected(searchSessions(...asked));

function sessionOfEveryKind(): string {
  const call = {
    type: "toolCall",
    id: "c",
    name: "Grep",
    arguments: { path: "src/needle.ts", n: 7 },
  };
  const result = { role: "toolResult", toolCallId: "c", toolName: "Grep", isError: false };
  return writeLines(temporaryDirectory(), "s.jsonl", [
    header(),
    user("one\ntwo\nthe needle\nfour\nfive"),
    assistant([{ type: "thinking", thinking: "Where is the needle?" }]),
    assistant([call]),
    entry("message", { message: { ...result, content: [{ type: "text", text: "7: needle" }] } }),
    entry("message", {
      message: { role: "bashExecution", command: "ls", output: "needle.ts", cancelled: false },
    }),
    entry("custom_message", { customType: "x:y", content: "a needle", display: false }),
    entry("compaction", { summary: "No needle yet.", firstKeptEntryId: "0", tokensBefore: 1 }),
    entry("branch_summary", { summary: "A needle was here.", fromId: "0" }),
    name("The needle"),
    entry("label", { targetId: "00000001", label: "needle" }),
    entry("custom", { customType: "x", data: "needle" }),
  ]);
}

const allKinds = [
  "message",
  "thinking",
  "call",
  "result",
  "shell",
  "custom",
  "summary",
  "summary",
  "name",
  "label",
] as const;

describe("a search", () => {
  it("finds every kind of text, or the requested kinds", async () => {
    const path = sessionOfEveryKind();
    expect((await hits(path, "needle")).map(({ kind }) => kind)).toEqual(allKinds);
    for (const kind of new Set(allKinds)) {
      const found = await hits(path, "needle", { kinds: [kind] });
      expect(found.map((hit) => hit.kind)).toEqual(allKinds.filter((one) => one === kind));
    }
    // @ts-expect-error: no kind.
    await expect(hits(path, "x", { kinds: ["text"] })).rejects.toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
    });
  });

  it("can be limited to a role, to a tool in any case, to a time", async () => {
    const path = sessionOfEveryKind();
    const kindsOf = async (options: SearchOptions): Promise<readonly string[]> =>
      (await hits(path, "needle", options)).map(({ kind }) => kind);
    expect(await kindsOf({ role: "assistant" })).toEqual(["thinking", "call"]);
    expect(await kindsOf({ tool: "grep" })).toEqual(["call", "result"]);
    expect(await kindsOf({ tool: "read" })).toEqual([]);
    expect(await kindsOf({ sinceMs: 0 })).toEqual(allKinds);
    expect(await kindsOf({ sinceMs: Date.parse("2999-01-01") })).toEqual([]);
  });

  it("accepts a regular expression, and reports errors in it", async () => {
    const path = sessionOfEveryKind();
    const found = await hits(path, String.raw`^\d: NEED\w+$`, { regex: true });
    expect(found.map(({ kind }) => kind)).toEqual(["result"]);
    const { text = "", matchStart, matchEnd } = found[0]?.snippet ?? {};
    expect(text.slice(matchStart, matchEnd)).toBe("7: needle");
    expect(await hits(path, "x*", { regex: true, kinds: ["name"] })).toEqual([]);
    await expect(hits(path, "(", { regex: true })).rejects.toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
    });
  });

  it("has the requested number of full lines around a match", async () => {
    const path = sessionOfEveryKind();
    const texts = async (contextLines: number): Promise<string | undefined> =>
      (await hits(path, "needle", { contextLines, kinds: ["message"] }))[0]?.snippet.text;
    expect(await texts(0)).toBe("the needle");
    expect(await texts(1)).toBe("two\nthe needle\nfour");
    expect(await texts(9)).toBe("one\ntwo\nthe needle\nfour\nfive");
  });

  it("parses only lines that can have a match", async () => {
    const lines = Array.from({ length: 500 }, (_, n) => user(`hay ${n}`));
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header(), ...lines, user("needle")]);
    const before = decodeCounter.parses;
    expect(await hits(path, "a needle")).toEqual([]);
    expect(await hits(path, "Needle")).toHaveLength(1);
    expect(decodeCounter.parses - before).toBeLessThan(8);
  });

  it("finds letters written as escapes, or with the same lower case", async () => {
    const directory = temporaryDirectory();
    const line = JSON.stringify(user("PLACE")).replace(
      "PLACE",
      String.raw`\u006eeedle \u212aelvin`,
    );
    const head = JSON.stringify(header());
    writeFileSync(
      join(directory, "s.jsonl"),
      `${head}\n${line}\n${JSON.stringify(user("Kelvin"))}\n`,
    );
    expect(await hits(directory, "needle")).toHaveLength(1);
    expect(await hits(directory, "kelvin")).toHaveLength(2);
  });

  it("can be subscribed to, and ends with its last subscription", async () => {
    const path = sessionOfEveryKind();
    const all = await firstValueFrom(search$(path, "needle").pipe(toArray()));
    expect(all).toEqual(await hits(path, "needle"));
    expect(await firstValueFrom(search$([path], "needle"))).toEqual(all[0]);
    await expect(firstValueFrom(search$(`${path}.gone`, "x"))).rejects.toMatchObject({
      code: "ERR_LOG_MISSING",
    });
  });
});

it("a line filter keeps every line whose text has the query, and counts lines", () => {
  const words = fc.stringMatching(/^[ -~\n]{0,12}$/);
  const query = fc.stringMatching(/^[ -~]{1,6}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(words, words), { minLength: 1 }), query, (texts, wanted) => {
      const search = textSearch(wanted);
      const all = texts.map(([one, other], n) => (n % 2 === 0 ? one : `${one}${wanted}${other}`));
      const bytes = Buffer.from(all.map((text) => JSON.stringify({ text })).join("\n"));
      const seen: number[] = [];
      const count = new LineFilter(search.bytesOf, false).lines(
        bytes,
        0,
        bytes.length,
        1,
        (start, end, n) => {
          expect(JSON.parse(bytes.toString("utf8", start, end))).toEqual({ text: all[n - 1] });
          seen.push(n);
        },
      );
      expect(count).toBe(all.length);
      const matching = all.flatMap((text, n) => (search.inText(text) ? [n + 1] : []));
      expect(seen).toEqual(expect.arrayContaining(matching));
      expect(seen).toEqual([...new Set(seen)].toSorted((one, other) => one - other));
    }),
  );
});

it("a line filter finds a line anywhere, also next to lines longer than one read", () => {
  const lengths = fc.array(fc.oneof(fc.nat(200), fc.integer({ min: 60_000, max: 70_000 })), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(lengths, fc.nat(), (lineLengths, chosen) => {
      const wanted = chosen % lineLengths.length;
      const lines = lineLengths.map((length, at) => {
        const text = "x".repeat(length);
        return at === wanted ? `${text}Needle` : text;
      });
      const bytes = Buffer.from(`in front\n${lines.join("\n")}\nbehind needle`);
      const seen: string[] = [];
      const [start, end] = ["in front\n".length, bytes.length - "\nbehind needle".length];
      new LineFilter("needle", false).lines(bytes, start, end, 1, (from, to) => {
        seen.push(bytes.toString("latin1", from, to));
      });
      expect(seen).toEqual([lines[wanted]]);
    }),
  );
});

describe("transcripts of other agents", () => {
  it.each(["claude", "codex"] as const)(
    "of %s are searched, and hits name entries",
    async (kind) => {
      const root = temporaryDirectory();
      mkdirSync(join(root, "below"));
      const names = ["conversation", "compaction", kind === "claude" ? "branches" : "rollback"];
      for (const one of names) {
        copyFileSync(join(fixtures, kind, `${one}.jsonl`), join(root, "below", `${one}.jsonl`));
      }
      const before = directoryState(root);
      for (const query of ["test", "the", "e", "exec"]) {
        const found = await hits(root, query);
        for (const { path, entryId, kind: of, header: head } of found) {
          const session = await openSession(path, { access: "read" });
          expect(head.id).toBe(session.header.id);
          const stored = await session.entry(entryId);
          expect(stored, `${path} ${entryId}`).toBeDefined();
          if (of !== "name") expect(JSON.stringify(stored).toLowerCase()).toContain(query);
        }
        // The plainest way: every entry as the session has it.
        const expected: string[] = [];
        for (const path of new Set(found.map((hit) => hit.path))) {
          const session = await openSession(path, { access: "read" });
          for await (const one of session.entries()) {
            const { message } = one as { message?: { role: string; content: unknown } };
            if (message?.role !== "user") continue;
            const { content } = message;
            const blocks = content as readonly { text?: string }[];
            const text =
              typeof content === "string"
                ? content
                : blocks.map((block) => block.text ?? "").join(" ");
            if (text.toLowerCase().includes(query)) expected.push(`${path} ${one.id}`);
          }
        }
        const users = found.filter(({ role }) => role === "user");
        expect(users.map((hit) => `${hit.path} ${hit.entryId}`)).toEqual(expected);
      }
      expect((await hits(root, "e", { agents: ["pi"] })).length).toBe(0);
      expect((await hits(root, "e", { agents: [kind] })).length).toBeGreaterThan(0);
      expect(directoryState(root)).toEqual(before);
    },
  );

  it("have the results of a tool by its name", async () => {
    const options = { tool: "read", kinds: ["result"] } as const;
    const found = await hits(join(fixtures, "claude/conversation.jsonl"), "expect", options);
    expect(found).toMatchObject([{ kind: "result", tool: "Read" }]);
  });

  it("have a title that is searched as a name", async () => {
    const path = join(fixtures, "claude/conversation.jsonl");
    const found = await hits(path, "checkout clock");
    expect(found).toMatchObject([{ kind: "name", transcriptOf: "claude" }]);
  });
});

describe("a restricted search", () => {
  const call = (path: string, id: string): object =>
    assistant([{ type: "toolCall", id, name: "edit", arguments: { path, oldText: "a" } }]);

  it("has only sessions with a call that names a file, including continued ones", async () => {
    const directory = temporaryDirectory();
    const lines = [user("a needle"), call("src/net.ts", "c1")];
    const parentSession = writeLines(directory, "origin.jsonl", [header(), ...lines]);
    const fork = [header({ id: "s2", parentSession }), ...lines, user("one more needle")];
    writeLines(directory, "fork.jsonl", fork);
    writeLines(directory, "other.jsonl", [header(), user("a needle"), user("see src/net.ts")]);
    const found = await hits(directory, "needle", { path: "src/net.ts" });
    expect(found.map(({ path }) => basename(path))).not.toContain("other.jsonl");
    expect(found.map(({ snippet }) => snippet.text).toSorted()).toEqual([
      "a needle",
      "one more needle",
    ]);
    expect(await hits(directory, "needle", { path: "src/none.ts" })).toEqual([]);
  });

  it("has only entries of a branch: to the leaf of each session, or to an entry of one", async () => {
    const directory = temporaryDirectory();
    const entryOf = (id: string, parentId: string | null, text: string): object => ({
      ...user(text),
      id,
      parentId,
    });
    writeLines(directory, "s.jsonl", [
      header(),
      entryOf("a", null, "needle of both"),
      entryOf("b", "a", "needle of the branch that was left"),
      entryOf("c", "a", "needle in force"),
    ]);
    const idsOn = async (branch: string): Promise<string[]> =>
      (await hits(directory, "needle", { branch })).map(({ entryId }) => entryId);
    expect(await idsOn("leaf")).toEqual(["a", "c"]);
    expect(await idsOn("b")).toEqual(["a", "b"]);
    expect(await idsOn("none")).toEqual([]);
  });

  it("has a hit in the requested session, even if another one repeats it", async () => {
    const directory = temporaryDirectory();
    const said = { ...user("a needle"), id: "a", parentId: null };
    const left = { ...user("something else"), id: "b", parentId: null };
    const origin = writeLines(directory, "origin.jsonl", [header(), said, call("src/net.ts", "c")]);
    // It changed last: of both, its hit would be shown.
    writeLines(directory, "fork.jsonl", [header({ id: "s2", parentSession: origin }), said, left]);
    utimesSync(origin, 1, 1);
    const pathsOf = async (options: SearchOptions): Promise<string[]> =>
      (await hits(directory, "needle", options)).map(({ path }) => basename(path));
    expect(await pathsOf({})).toEqual(["fork.jsonl"]);
    expect(await pathsOf({ path: "src/net.ts" })).toEqual(["origin.jsonl"]);
    expect(await pathsOf({ branch: "leaf" })).toEqual([]);
    expect(await pathsOf({ branch: "a" })).toEqual(["fork.jsonl"]);
  });

  it("rejects a branch for sessions in a store", async () => {
    const asked = hits({ store: archiveStore() }, "needle", { branch: "leaf" });
    await expect(asked).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
  });
});
