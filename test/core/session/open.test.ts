/** Opening a session, and reading what it holds. */
import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { createSession, memorySession, openSession } from "@branchlog/core";
import type { BranchlogError, Session } from "@branchlog/core";
import {
  jsonLines,
  sampleHeader,
  storedEntry,
  userDraft,
  userEntry,
} from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";
import { rejection, typedError } from "../../support/typed-errors.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';
const user = (id: string, parent: string | null, text = "hi"): string =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"${text}"}}`;

async function failure(path: string): Promise<BranchlogError> {
  const before = contentHash(path);
  const error = typedError(await rejection(openSession(path)));
  expect(contentHash(path)).toBe(before);
  expect(error).toMatchObject({ path });
  return error;
}

function contentHash(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "unreadable";
  }
}

describe("opening a path that is not a session", () => {
  it.each([
    ["an empty file", "", "ERR_LOG_EMPTY"],
    ["blank lines only", "\n  \n", "ERR_NOT_A_SESSION"],
    ["text", "hello\nworld\n", "ERR_NOT_A_SESSION"],
    ["other JSON lines", '{"a":1}\n[2]\n', "ERR_NOT_A_SESSION"],
    ["a binary file", Buffer.from([0, 1, 2, 255, 10, 0]), "ERR_NOT_A_SESSION"],
    [
      "entries behind a damaged header",
      `{"type":"sess\n${user("a", null)}\n`,
      "ERR_HEADER_DAMAGED",
    ],
    ["a header without an id", `{"type":"session"}\n`, "ERR_NOT_A_SESSION"],
  ])("reports what %s is and does not change it", async (_, content, code) => {
    expect(await failure(temporaryFile(content))).toMatchObject({ code });
  });

  it("reports that a directory is not a session", async () => {
    const path = join(temporaryDirectory(), "d.jsonl");
    mkdirSync(path);
    expect(await failure(path)).toMatchObject({ code: "ERR_LOG_UNREADABLE" });
  });
});

describe("opening a session", () => {
  it("changes no byte, needs no write permission and creates no sidecars (Verifies: P8)", async () => {
    const path = temporaryFile(`${header}\n${user("a", null)}\n{"torn`);
    chmodSync(path, 0o400);
    chmodSync(join(path, ".."), 0o500);
    const before = contentHash(path);
    const session = await openSession(path, { access: "read" });
    expect((await session.context()).messages).toHaveLength(1);
    await verifySession(session);
    await session.close();
    expect(contentHash(path)).toBe(before);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
    chmodSync(join(path, ".."), 0o700);
  });

  it("finds the header after other lines", async () => {
    const title = '{"type":"title","title":"x"}';
    const session = await openSession(
      temporaryFile(`garbage\n\n${title}\n${header}\n${user("a", null)}\n`),
    );
    expect(session.header.id).toBe("s");
    expect(session.tail).toBe("a");
    expect(session.diagnostics).toMatchObject([{ kind: "bad-line", line: 1, reason: "not-json" }]);
  });

  it("skips bad lines, keeps and reports them, and loses no valid one (Verifies: P10)", async () => {
    const lines = [header, user("a", null), "{bad", "\0\0\0\0", "5", user("b", "a"), "[]"];
    const session = await openSession(temporaryFile(`${lines.join("\n")}\n`));
    expect((await session.branch()).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(session.diagnostics.map(({ line, reason }) => [line, reason])).toEqual([
      [3, "not-json"],
      [4, "nul-bytes"],
      [5, "not-object"],
      [7, "not-object"],
    ]);
  });

  it("reports entries whose parent is missing, until it arrives", async () => {
    const session = await openSession(
      temporaryFile(jsonLines(sampleHeader(), userEntry("b", "a", "x"))),
    );
    const found = (): unknown => session.diagnostics.map(({ kind, id, line }) => [kind, id, line]);
    expect(found()).toEqual([["missing-parent", "b", 2]]);
    expect(session.diagnostics[0]?.reason).toContain("a");
    for (const [id, parent] of [
      ["d", "c"],
      ["a", null],
    ] as const) {
      appendFileSync(session.path, jsonLines(userEntry(id, parent, "x")));
      await session.refresh();
    }
    expect(found()).toEqual([["missing-parent", "d", 3]]);
  });

  it("lists missing parents, cycles and unusable bodies up to its limit, each once", async () => {
    const all = Array.from({ length: diagnosticsMax + 1 }, (_, n) => n);
    const bodies = all.map((n) =>
      storedEntry("message", `m${n}`, n === 0 ? null : `m${n - 1}`, { message: null }),
    );
    const orphans = all.map((n) => userEntry(`o${n}`, `p${n}`, "x"));
    const cycles = all.flatMap((n) => [
      userEntry(`c${n}`, `d${n}`, "x"),
      userEntry(`d${n}`, `c${n}`, "x"),
    ]);
    const path = temporaryFile(jsonLines(sampleHeader(), ...bodies, ...orphans, ...cycles));
    const session = await openSession(path);
    for (const at of ["m0", "m1", `m${diagnosticsMax}`]) await session.context({ at });
    const reasons = session.diagnostics.flatMap(({ kind, id, reason, line }) =>
      kind === "malformed-body" ? [[id, reason, line]] : [],
    );
    expect(reasons).toHaveLength(diagnosticsMax);
    expect(reasons.slice(0, 2)).toEqual([
      ["m0", "no-message", 2],
      ["m1", "no-message", 3],
    ]);
    for (const kind of ["missing-parent", "cycle"]) {
      expect(session.diagnostics.filter((one) => one.kind === kind)).toHaveLength(diagnosticsMax);
    }
  });

  it("reports a fast-indexed line that does not parse, and ignores it (Verifies: P10)", async () => {
    const damaged = user("b", "a").replace('"hi"', 'hi"');
    const lines = [header, user("a", null), damaged, user("c", "b")];
    const session = await openSession(temporaryFile(`${lines.join("\n")}\n`));
    expect((await session.branch()).map(({ id }) => id)).toEqual(["a", "c"]);
    expect(await session.entry("b")).toBeUndefined();
    expect((await session.context()).messages).toHaveLength(2);
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", line: 3, id: "b" }]);
  });

  it("stops when its signal is aborted", async () => {
    const path = temporaryFile(`${header}\n`);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(openSession(path, { signal })).rejects.toThrow("enough");
  });
});

/** root ─ a ─ b ─ c, and d under a. The leaf is d. */
async function forked(): Promise<Session> {
  const session = await memorySession();
  for (const id of ["root", "a", "b", "c"]) await session.append(userDraft(id), { id });
  await session.append(
    { type: "custom", customType: "x", data: 1 },
    { id: "d", parent: { id: "a" } },
  );
  return session;
}

describe("reading entries", () => {
  const count = runs(50_000, 250_000);

  it(`finds the latest state of an extension among ${count} by parsing one (Verifies: P17)`, async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    await createSession(path);
    const lines: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const id = i.toString(16).padStart(8, "0");
      const parent = i === 0 ? "null" : `"${(i - 1).toString(16).padStart(8, "0")}"`;
      const type = i === 1000 ? "rare" : "common";
      lines.push(
        `{"type":"custom","customType":"${type}","data":{"n":${i}},"id":"${id}","parentId":${parent},"timestamp":"2026-01-01T00:00:00.000Z"}\n`,
      );
    }
    appendFileSync(path, lines.join(""));
    const opening = decodeCounter.parses;
    const session = await openSession(path, { access: "read", bodyCacheBytesMax: 0 });
    // The header and the tip; every other line is indexed from its envelope.
    expect(decodeCounter.parses - opening).toBe(2);
    for (const [customType, n] of [
      ["common", count - 1],
      ["rare", 1000],
    ] as const) {
      const before = decodeCounter.parses;
      for await (const entry of session.entries({ type: "custom", customType, reverse: true })) {
        expect(entry).toMatchObject({ customType, data: { n } });
        break;
      }
      expect(decodeCounter.parses - before).toBe(1);
    }
  });

  it("reads a value in a body without building the body", async () => {
    const session = await forked();
    expect(await session.pick("b", ["message", "content"])).toBe("b");
    const tokens = [];
    for await (const token of session.bodyStream("d")) tokens.push(token);
    expect(tokens.length).toBeGreaterThan(10);
  });
});

it("reading in a body reports damage, and values too large to be built, by code", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  const line = (id: string, data: string): string =>
    `{"type":"custom","customType":"x","data":${data},"id":"${id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}\n`;
  appendFileSync(path, line("bad", "[1,}]") + line("good", "[1,2]").replace("null", '"bad"'));
  const session = await openSession(path);
  expect(await session.pick("good", ["data", 1])).toBe(2);
  await expect(session.pick("bad", ["data", 5])).rejects.toMatchObject({
    code: "ERR_ENTRY_DAMAGED",
    id: "bad",
  });
  await expect(session.bodyStream("bad").return(undefined)).resolves.toBeDefined();
  const tokens = async (): Promise<void> => {
    for await (const token of session.bodyStream("bad")) expect(token).toBeDefined();
  };
  await expect(tokens()).rejects.toMatchObject({ code: "ERR_ENTRY_DAMAGED" });
});

it("the tree of a session answers from the index alone", async () => {
  const session = await forked();
  const before = decodeCounter.parses;
  expect(session.tips().map(({ id }) => id)).toEqual(["c", "d"]);
  expect(session.children("a").map(({ id }) => id)).toEqual(["b", "d"]);
  expect(session.children(null).map(({ id }) => id)).toEqual(["root"]);
  const tree = session.tree();
  expect(tree).toMatchObject({ roots: ["root"], size: 5 });
  expect(tree.node("d")).toMatchObject({
    type: "custom",
    customType: "x",
    parentId: "a",
    revision: 5,
  });
  expect(decodeCounter.parses).toBe(before);
  await session.append(userDraft("later"), { id: "later" });
  expect([tree.size, tree.children("d"), tree.node("later")]).toEqual([5, [], undefined]);
});

it("an incomplete path is reported, ends there by default, and can be bridged", async () => {
  const lost = `{"type":"message","id":"two","parentId":"gone","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"2"}}\n`;
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  appendFileSync(path, lost.replace('"gone"', "null").replace("two", "one") + lost);
  const opened = await openSession(path);
  expect(await opened.context()).toMatchObject({
    truncatedAt: "gone",
    messages: [{ content: "2" }],
  });
  const bridged = await opened.context({ bridgeGaps: true });
  expect(bridged).toMatchObject({ truncatedAt: "gone", messages: [{}, { content: "2" }] });
  expect(opened.diagnostics).toMatchObject([{ kind: "missing-parent", id: "two", line: 3 }]);
});
