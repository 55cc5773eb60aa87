import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BranchlogError, openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';
const user = (id: string, parent: string | null, text = "hi"): string =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"${text}"}}`;

function fileWith(content: string | Buffer): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, content);
  return path;
}

async function failure(path: string): Promise<BranchlogError> {
  const before = contentHash(path);
  const error: unknown = await openSession(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(contentHash(path)).toBe(before);
  expect(error).toBeInstanceOf(BranchlogError);
  expect(error).toMatchObject({ path });
  return error as BranchlogError;
}

function contentHash(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "unreadable";
  }
}

describe("opening a path that is no session", () => {
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
  ])("says of %s what it is and leaves it alone", async (_, content, code) => {
    expect(await failure(fileWith(content))).toMatchObject({ code });
  });

  it("says that a file is missing, and creates none", async () => {
    const directory = temporaryDirectory();
    expect(await failure(join(directory, "none.jsonl"))).toMatchObject({ code: "ERR_LOG_MISSING" });
    expect(readdirSync(directory)).toEqual([]);
  });

  it("says that a directory is none", async () => {
    const path = join(temporaryDirectory(), "d.jsonl");
    mkdirSync(path);
    expect(await failure(path)).toMatchObject({ code: "ERR_LOG_UNREADABLE" });
  });
});

describe("opening a session", () => {
  it("changes no byte, needs no write permission and leaves nothing beside it (Verifies: P8)", async () => {
    const path = fileWith(`${header}\n${user("a", null)}\n{"torn`);
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

  it("finds the header behind lines that are not it", async () => {
    const title = '{"type":"title","title":"x"}';
    const session = await openSession(
      fileWith(`garbage\n\n${title}\n${header}\n${user("a", null)}\n`),
    );
    expect(session.header.id).toBe("s");
    expect(session.tail).toBe("a");
    expect(session.diagnostics).toMatchObject([{ kind: "bad-line", line: 1, reason: "not-json" }]);
  });

  it("accepts a byte-order mark and CRLF line ends", async () => {
    const session = await openSession(fileWith(`\ufeff${header}\r\n${user("a", null)}\r\n`));
    expect(session.diagnostics).toEqual([]);
    expect(await session.entry("a")).toMatchObject({ id: "a", message: { content: "hi" } });
  });

  it("skips bad lines, keeps and reports them, and loses no good one (Verifies: P10)", async () => {
    const lines = [header, user("a", null), "{bad", "\0\0\0\0", "5", user("b", "a"), "[]"];
    const session = await openSession(fileWith(`${lines.join("\n")}\n`));
    expect((await session.branch()).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(session.diagnostics.map(({ line, reason }) => [line, reason])).toEqual([
      [3, "not-json"],
      [4, "nul-bytes"],
      [5, "not-object"],
      [7, "not-object"],
    ]);
  });

  it("takes an unterminated last record for what it is, without counting it", async () => {
    const session = await openSession(fileWith(`${header}\n${user("a", null)}\n${user("b", "a")}`));
    expect(session.leaf).toBe("b");
    expect(session.revision).toBe(1);
    expect((await verifySession(session)).pending).toMatchObject({ kind: "record" });
  });

  it("ignores an unterminated fragment, which another process may be writing", async () => {
    const session = await openSession(
      fileWith(`${header}\n${user("a", null)}\n${user("b", "a").slice(0, 50)}`),
    );
    expect(session.leaf).toBe("a");
    expect(session.diagnostics).toEqual([]);
    const report = await verifySession(session);
    expect(report).toMatchObject({ ok: true, pending: { kind: "fragment", length: 50 } });
  });

  it("reports a fast-indexed line that does not parse, and sees through it (Verifies: P10)", async () => {
    const damaged = user("b", "a").replace('"hi"', 'hi"');
    const lines = [header, user("a", null), damaged, user("c", "b")];
    const session = await openSession(fileWith(`${lines.join("\n")}\n`));
    expect((await session.branch()).map(({ id }) => id)).toEqual(["a", "c"]);
    expect(await session.entry("b")).toBeUndefined();
    expect((await session.context()).messages).toHaveLength(2);
    expect(session.diagnostics).toMatchObject([{ kind: "damaged-entry", line: 3, id: "b" }]);
  });

  it("never makes a damaged line the leaf", async () => {
    const damaged = user("b", "a").replace('"hi"', 'hi"');
    const session = await openSession(fileWith(`${header}\n${user("a", null)}\n${damaged}\n`));
    expect(session.leaf).toBe("a");
    expect(session.tips().map(({ id }) => id)).toEqual(["a"]);
  });

  it("ignores a second header and says so", async () => {
    const second = header.replace('"id":"s"', '"id":"t"');
    const session = await openSession(fileWith(`${header}\n${second}\n${user("a", null)}\n`));
    expect(session.header.id).toBe("s");
    expect(session.diagnostics).toMatchObject([{ kind: "second-header", line: 2 }]);
  });

  it("reads a log of a newer version, and refuses to append to it (Verifies: P24)", async () => {
    const path = fileWith(`${header.replace('"version":3', '"version":9')}\n${user("a", null)}\n`);
    const before = contentHash(path);
    const session = await openSession(path);
    expect(session.tail).toBe("a");
    const draft = { type: "custom", customType: "x" } as const;
    await expect(session.append(draft)).rejects.toMatchObject({ code: "ERR_VERSION_NEWER" });
    expect(contentHash(path)).toBe(before);
    const forced = await openSession(path, { allowNewerVersion: true });
    await forced.append(draft);
    expect(readFileSync(path, "utf8").split("\n")[0]).toContain('"version":9');
  });

  it("stops when its signal is aborted", async () => {
    const path = fileWith(`${header}\n`);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(openSession(path, { signal })).rejects.toThrow("enough");
  });
});
