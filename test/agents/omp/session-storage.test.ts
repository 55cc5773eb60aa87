/** The storage of omp's own session manager over files and a store. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations, undoOperation } from "@branchlog/library";
import { ompSessionStorage } from "@branchlog/agents/omp";
import type { OmpSessionStorage } from "@branchlog/agents/omp";
import { BranchlogError } from "@branchlog/core";
import { fileError, nodePorts } from "@branchlog/core/testing";
import "@branchlog/postgres/blocking";
import { DatabaseServer, hasPostgres } from "../../postgres/database-server.ts";
import { blockingMemoryStore } from "../../support/blocking-memory-store.ts";
import { rejection, thrownBy, typedError } from "../../support/typed-errors.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const line = (id: string, more: object = {}): string =>
  `${JSON.stringify({ type: "message", id, parentId: null, ...more })}\n`;

/** Two objects over one place, as two processes have, and a directory in it. */
type Place = () => readonly [OmpSessionStorage, OmpSessionStorage, string];

const inFiles: Place = () => {
  const directory = temporaryDirectory();
  return [ompSessionStorage(), ompSessionStorage(), directory];
};
const inMemory: Place = () => {
  const { address } = blockingMemoryStore();
  return [ompSessionStorage({ address }), ompSessionStorage({ address }), "/work/sessions"];
};

const codeOf = (attempt: () => unknown): string => typedError(thrownBy(attempt)).code;
const update = (title: string, source?: "auto" | "user") => ({
  title,
  source,
  updatedAt: "2026-01-01T00:00:00.000Z",
});
const emptySlot = JSON.stringify({ type: "title", v: 1, title: "", updatedAt: "", pad: "" });
const slot = `${emptySlot.slice(0, -2)}${" ".repeat(255 - emptySlot.length)}"}\n`;

function contract(place: Place): void {
  it("returns written texts, and reports missing ones", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "--work--", "s.jsonl");
    storage.ensureDirSync(join(directory, "--work--"));
    expect(storage.existsSync(path)).toBe(false);
    expect(await rejection(storage.readText(path))).toMatchObject({ code: "ENOENT" });
    expect(thrownBy(() => storage.statSync(path))).toMatchObject({ code: "ENOENT" });
    expect(await rejection(storage.rename(path, `${path}.x`))).toMatchObject({ code: "ENOENT" });
    expect(await rejection(storage.unlink(path))).toMatchObject({ code: "ENOENT" });
    storage.writeTextSync(path, line("ä\u2028"));
    await storage.writeText(join(directory, "draft.txt"), "no newline");
    expect(await other.readText(path)).toBe(line("ä\u2028"));
    expect(await other.readText(join(directory, "draft.txt"))).toBe("no newline");
    expect(await other.exists(path)).toBe(true);
    const stat = other.statSync(path);
    expect(stat.size).toBe(Buffer.byteLength(line("ä\u2028")));
    expect(stat.mtime.getTime()).toBe(Math.trunc(stat.mtimeMs));
  });

  it("appends complete lines with concurrent writers", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "s.jsonl");
    const [one, two] = [storage.openWriter(path), other.openWriter(path, { flags: "a" })];
    for (const i of Array.from({ length: 20 }, (_, at) => at)) {
      one.appendSync(line(`one-${i}`));
      await two.append(line(`two-${i}`));
    }
    await Promise.all([one.flush(), one.close(), two.close(), storage.drain()]);
    const ids = Array.from({ length: 20 }, (_, i) => [`one-${i}`, `two-${i}`]).flat();
    expect(await storage.readText(path)).toBe(ids.map((id) => line(id)).join(""));
    expect(one.isOpen()).toBe(false);
    expect(codeOf(() => one.appendSync(line("late")))).toBe("ERR_CLOSED");
    const again = storage.openWriter(path, { flags: "w" });
    again.appendSync(line("first"));
    expect(await other.readText(path)).toBe(line("first"));
    const errors: Error[] = [];
    const careless = storage.openWriter(path, { onError: (error) => errors.push(error) });
    expect(codeOf(() => careless.appendSync("no line"))).toBe("ERR_INVALID_ARGUMENT");
    expect(thrownBy(() => careless.appendSync(line("x")))).toBe(careless.getError());
    expect(errors).toEqual([careless.getError()]);
    expect(await rejection(careless.close())).toBe(careless.getError());
  });

  it("replaces a text only if it has the expected size and the guard agrees", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "s.jsonl");
    await storage.writeTextAtomic(path, line("a"), { expectedSize: null });
    const expectedSize = storage.statSync(path).size;
    expect(codeOf(() => storage.writeTextSync(path, line("b"), { expectedSize: null }))).toBe(
      "ERR_CONFLICT",
    );
    const writer = other.openWriter(path);
    writer.appendSync(line("of another"));
    const refused = storage.writeTextAtomic(path, line("b"), { expectedSize });
    expect(typedError(await rejection(refused)).code).toBe("ERR_CONFLICT");
    expect(await storage.readText(path)).toBe(line("a") + line("of another"));
    const size = storage.statSync(path).size;
    await storage.writeTextAtomic(path, line("b"), {
      expectedSize: size,
      commitGuard: () => false,
    });
    expect(storage.statSync(path).size).toBe(size);
    await storage.writeTextAtomic(path, line("b"), { expectedSize: size, commitGuard: () => true });
    expect(await other.readText(path)).toBe(line("b"));
    // What another process has open continues after the replacement.
    writer.appendSync(line("c"));
    expect(await other.readText(path)).toBe(line("b") + line("c"));
    const missing = join(directory, "none.jsonl");
    expect(codeOf(() => storage.writeTextSync(missing, "x", { expectedSize: 5 }))).toBe(
      "ERR_CONFLICT",
    );
    expect(storage.existsSync(missing)).toBe(false);
  });

  it("discards no entry missing from the new text, except the rest of a killed write", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "s.jsonl");
    storage.writeTextSync(path, line("a"));
    const expectedSize = storage.statSync(path).size;
    other.writeTextSync(path, `${line("a")}{"type":"message","id":"to`);
    storage.writeTextSync(path, line("a") + line("b"), { expectedSize });
    other.writeTextSync(path, line("a") + line("b") + line("c"));
    storage.writeTextSync(path, line("a") + line("b") + line("c") + line("d"), {
      expectedSize: Buffer.byteLength(line("a") + line("b")),
    });
    const inside = { expectedSize: Buffer.byteLength(line("a")) + 3 };
    expect(codeOf(() => storage.writeTextSync(path, line("a"), inside))).toBe("ERR_CONFLICT");
    expect(await other.readText(path)).toBe(line("a") + line("b") + line("c") + line("d"));
  });

  it("never joins a line to the rest of a killed write, and keeps omp's sizes correct", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "s.jsonl");
    const torn = '{"type":"message","text":"ä';
    storage.writeTextSync(path, line("a") + torn);
    let size = other.statSync(path).size;
    expect(Buffer.byteLength(await other.readText(path))).toBe(size);
    other.openWriter(path).appendSync(line("b"));
    size += Buffer.byteLength(line("b"));
    expect(other.statSync(path).size).toBe(size);
    expect(await storage.readText(path)).toBe(`${line("a")}${torn}\n${line("b")}`);
    other.writeTextSync(path, line("c"), { expectedSize: size });
    expect(await storage.readText(path)).toBe(line("c"));
  });

  it("writes titles into the slot, and prefers a user's title to a generated one", async () => {
    const [storage, other, directory] = place();
    const path = join(directory, "s.jsonl");
    storage.writeTextSync(path, slot + line("a"));
    await storage.updateSessionTitle(path, update("Mine ü", "user"));
    await other.updateSessionTitle(path, update("Generated", "auto"));
    const text = await storage.readText(path);
    expect(Buffer.byteLength(text)).toBe(256 + Buffer.byteLength(line("a")));
    expect(text.endsWith(`"}\n${line("a")}`)).toBe(true);
    expect(JSON.parse(text.split("\n", 1).join(""))).toMatchObject({
      ...update("Mine ü", "user"),
      type: "title",
      v: 1,
    });
    storage.writeTextSync(path, line("a"));
    const refused = await rejection(storage.updateSessionTitle(path, update("x")));
    expect(typedError(refused).code).toBe("ERR_APPEND_FAILED");
    expect(await storage.readText(path)).toBe(line("a"));
  });

  it("lists, moves and removes the files of a directory", async () => {
    const [storage, other, directory] = place();
    const at = (...names: string[]): string => join(directory, ...names);
    const long = at(`--${"a".repeat(150)}--one`);
    const beside = at(`--${"a".repeat(150)}--two`);
    for (const path of [at("a.jsonl"), at("b_ü.jsonl"), at("c.bak"), at("a", "draft.txt")]) {
      await storage.writeText(path, line(path));
    }
    await storage.writeText(join(long, "s.jsonl"), line("long"));
    expect(other.listFilesSync(directory, "*.jsonl").toSorted()).toEqual([
      at("a.jsonl"),
      at("b_ü.jsonl"),
    ]);
    expect(other.listFilesSync(directory, "*.bak")).toEqual([at("c.bak")]);
    expect(other.listFilesSync(long, "*")).toEqual([join(long, "s.jsonl")]);
    expect(other.listFilesSync(beside, "*")).toEqual([]);
    await other.rename(at("b_ü.jsonl"), at("moved.jsonl"));
    expect(await storage.readText(at("moved.jsonl"))).toBe(line(at("b_ü.jsonl")));
    expect(storage.existsSync(at("b_ü.jsonl"))).toBe(false);
    await storage.unlink(at("c.bak"));
    expect(other.listFilesSync(directory, "*.bak")).toEqual([]);
  });

  it("returns the start and the end of a text, and whether a model answered", async () => {
    const [storage, , directory] = place();
    const path = join(directory, "s.jsonl");
    storage.writeTextSync(path, "0123456789");
    expect(await storage.readTextSlices(path, 3, 2)).toEqual(["012", "89"]);
    expect(await storage.readTextSlices(path, 100, 8)).toEqual(["0123456789", "23456789"]);
    expect(await storage.readTextSlices(path, 0, -1)).toEqual(["", ""]);
    const asked = line("a", { message: { role: "user", content: "assistant" } });
    storage.writeTextSync(path, `${asked}{"assistant\n`);
    expect(await storage.hasAssistantTurn(path)).toBe(false);
    storage.openWriter(path).appendSync(line("b", { message: { role: "assistant" } }));
    expect(await storage.hasAssistantTurn(path)).toBe(true);
  });

  it("behaves like a map of texts for any sequence of calls", async () => {
    const text = fc.array(fc.string({ unit: "binary", maxLength: 5 }), { maxLength: 3 });
    const call = fc.record({
      what: fc.constantFrom("append", "write", "replace", "rename", "unlink", "new writer"),
      path: fc.constantFrom("a.jsonl", "b.jsonl"),
      who: fc.constantFrom(0, 1),
      lines: text.map((words) => words.map((word) => line(word)).join("")),
      isExpected: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        const [storage, other, directory] = place();
        const model = new Map<string, string>();
        for (const { what, path: name, who, lines, isExpected } of calls) {
          const one = who === 0 ? storage : other;
          const path = join(directory, name);
          const before = model.get(name);
          const size = before === undefined ? null : Buffer.byteLength(before);
          if (what === "append") {
            one.openWriter(path).appendSync(line("x"));
            model.set(name, (before ?? "") + line("x"));
          } else if (what === "new writer") {
            one.openWriter(path, { flags: "w" });
            model.set(name, "");
          } else if (what === "write") {
            await one.writeText(path, lines);
            model.set(name, lines);
          } else if (what === "replace") {
            const expectedSize = isExpected ? size : (size ?? 0) + 2;
            const outcome = await rejection(one.writeTextAtomic(path, lines, { expectedSize }));
            expect(outcome instanceof BranchlogError).toBe(!isExpected);
            if (isExpected) model.set(name, lines);
          } else if (before !== undefined) {
            model.delete(name);
            if (what === "unlink") await one.unlink(path);
            else await one.rename(path, join(directory, "c.jsonl"));
            if (what === "rename") model.set("c.jsonl", before);
          }
        }
        const names = storage.listFilesSync(directory, "*").toSorted();
        expect(names).toEqual(Array.from(model.keys(), (name) => join(directory, name)).toSorted());
        for (const [name, expected] of model) {
          expect(await other.readText(join(directory, name))).toBe(expected);
          expect(other.statSync(join(directory, name)).size).toBe(Buffer.byteLength(expected));
        }
      }),
      { numRuns: 60 },
    );
  });
}

describe("a storage of omp over files", () => {
  contract(inFiles);

  it("moves a session with its artifacts into the archive, and restores it", async () => {
    const [directory, dataDir] = [temporaryDirectory(), temporaryDirectory()];
    const storage = ompSessionStorage({ dataDir });
    const path = join(directory, "s.jsonl");
    storage.writeTextSync(path, line("a"));
    await storage.writeText(join(directory, "s", "1.bash.log"), "output");
    await storage.deleteSessionWithArtifacts(path);
    expect(storage.existsSync(path)).toBe(false);
    expect(existsSync(join(directory, "s", "1.bash.log"))).toBe(false);
    expect(await operations({ dataDir })).toMatchObject([{ kind: "archive" }]);
    await undoOperation(undefined, { dataDir });
    expect(await storage.readText(path)).toBe(line("a"));
    expect(await storage.readText(join(directory, "s", "1.bash.log"))).toBe("output");
  });

  it("removes a session without entries unless another writer added one", async () => {
    const directory = temporaryDirectory();
    const storage = ompSessionStorage();
    if (!("deleteSessionWithArtifactsIf" in storage)) throw new Error("files have locks");
    const owner = storage as OmpSessionStorage & {
      withSessionFileLockSync<T>(path: string, operation: () => T): T;
      deleteSessionWithArtifactsIf(
        path: string,
        isWanted: (text: string) => boolean,
      ): Promise<boolean>;
    };
    const path = join(directory, "s.jsonl");
    storage.writeTextSync(path, line("only"));
    mkdirSync(join(directory, "s"));
    expect(await owner.deleteSessionWithArtifactsIf(path, (text) => text === "")).toBe(false);
    expect(
      owner.withSessionFileLockSync(path, () => {
        storage.openWriter(path).appendSync(line("entry"));
        return "done";
      }),
    ).toBe("done");
    const isAlone = (text: string): boolean => text === line("only");
    expect(await owner.deleteSessionWithArtifactsIf(path, isAlone)).toBe(false);
    expect(await owner.deleteSessionWithArtifactsIf(path, () => true)).toBe(true);
    expect(existsSync(join(directory, "s"))).toBe(false);
    expect(await owner.deleteSessionWithArtifactsIf(path, () => true)).toBe(false);
  });

  it("reads lines that are not UTF-8 as blank, so that sizes stay correct", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const cut = Buffer.from('{"text":"ä').subarray(0, -1);
    writeFileSync(path, Buffer.concat([Buffer.from(line("a")), cut]));
    const storage = ompSessionStorage();
    storage.openWriter(path).appendSync(line("b"));
    appendFileSync(path, cut);
    const text = await storage.readText(path);
    const blank = " ".repeat(cut.length);
    expect(text).toBe(`${line("a")}${blank}\n${line("b")}${blank}\n`);
    expect(storage.statSync(path).size).toBe(Buffer.byteLength(text));
    storage.writeTextSync(path, line("c"), { expectedSize: Buffer.byteLength(text) });
    expect(readFileSync(path, "utf8")).toBe(line("c"));
  });

  it("waits for omp's lock before it replaces a session, and otherwise does not change it", () => {
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    const storage = ompSessionStorage({ lockWaitMs: 20 });
    storage.writeTextSync(path, line("a"));
    writeFileSync(join(directory, ".s.jsonl.lock"), `${process.pid}:${Date.now()}\n`);
    expect(codeOf(() => storage.writeTextSync(path, line("b")))).toBe("ERR_LOCK_TIMEOUT");
    expect(readFileSync(path, "utf8")).toBe(line("a"));
    expect(storage.listFilesSync(directory, "*")).toEqual([path]);
  });

  it("recovers from a disk that was full as omp does, by the whole text", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    let isFull = false;
    const writeSync: typeof nodePorts.fs.writeSync = (fd, bytes, offset, length) => {
      if (!isFull) return nodePorts.fs.writeSync(fd, bytes, offset, length);
      if (length > 9) return nodePorts.fs.writeSync(fd, bytes, offset, 9);
      throw fileError("ENOSPC", "write");
    };
    const storage = ompSessionStorage({ ports: { fs: { ...nodePorts.fs, writeSync } } });
    storage.writeTextSync(path, line("a"));
    const expectedSize = storage.statSync(path).size;
    const writer = storage.openWriter(path);
    isFull = true;
    expect(codeOf(() => writer.appendSync(line("b")))).toBe("ERR_APPEND_FAILED");
    isFull = false;
    storage.writeTextSync(path, line("a") + line("b"), { expectedSize });
    expect(await storage.readText(path)).toBe(line("a") + line("b"));
    storage.openWriter(path).appendSync(line("c"));
    expect(readFileSync(path, "utf8")).toBe(line("a") + line("b") + line("c"));
  });
});

describe("a storage of omp over a store", () => {
  contract(inMemory);

  it("stores a line once, even if the answer is lost, after those of others", async () => {
    const store = blockingMemoryStore();
    const [storage, other] = [
      ompSessionStorage({ address: store.address }),
      ompSessionStorage({ address: store.address }),
    ];
    const path = "/work/sessions/s.jsonl";
    const writer = storage.openWriter(path);
    writer.appendSync(line("a"));
    writer.appendSync(line("b"));
    store.beforeAppend = () => other.openWriter(path).appendSync(line("of another"));
    writer.appendSync(line("c"));
    store.afterAppend = () => {
      other.openWriter(path).appendSync(line("behind"));
      throw new BranchlogError("ERR_APPEND_UNCERTAIN", "the answer was lost");
    };
    writer.appendSync(line("d"));
    writer.appendSync(line("e"));
    const ids = ["a", "b", "of another", "c", "d", "behind", "e"];
    expect(await storage.readText(path)).toBe(ids.map((id) => line(id)).join(""));
    await other.unlink(path);
    expect(codeOf(() => writer.appendSync(line("f")))).toBe("ERR_LOG_GONE");
    expect(storage.existsSync(path)).toBe(false);
  });

  it("removes a session with its drafts", async () => {
    const { address } = blockingMemoryStore();
    const storage = ompSessionStorage({ address });
    storage.writeTextSync("/work/s.jsonl", line("a"));
    await storage.writeText("/work/s/draft.txt", "later");
    await storage.deleteSessionWithArtifacts("/work/s.jsonl");
    expect(storage.existsSync("/work/s.jsonl")).toBe(false);
    expect(storage.existsSync("/work/s/draft.txt")).toBe(false);
  });

  it("rejects an address that is not a store", () => {
    expect(codeOf(() => ompSessionStorage({ address: "sessions" }))).toBe("ERR_INVALID_ARGUMENT");
    expect(codeOf(() => ompSessionStorage({ address: "mysql://db.example/team" }))).toBe(
      "ERR_INVALID_ARGUMENT",
    );
  });
});

describe.skipIf(!hasPostgres())("a storage of omp over PostgreSQL", () => {
  let server: DatabaseServer;
  let address: string;
  let places = 0;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    const schema = server.newSchema();
    await server.store({ schema });
    address = server.url(schema);
  });
  afterAll(() => server.remove());

  contract(() => {
    places += 1;
    const one = ompSessionStorage({ address });
    return [one, ompSessionStorage({ address }), `/work/sessions-${places}`];
  });
});
