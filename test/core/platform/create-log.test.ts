/** Logs that are created: whole under their name, or not there, and every failure with a code. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BranchlogError } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, fileError, nodePorts } from "@branchlog/core/testing";
import type { FileErrorCode } from "@branchlog/core/testing";
import { createLog, createStreamedLog } from "../../../packages/core/src/platform/atomic-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { rejection, thrownBy } from "../../support/typed-errors.ts";
import { failingFileSystem } from "./failing-file-system.ts";

const path = "/a/b/s.jsonl";
const chunks = [Buffer.from('{"type":"session"}\n'), Buffer.from('{"type":"custom"}\n')];
const whole = Buffer.concat(chunks).toString();

/** What is in the directory of the log, by name; undefined where there is no such directory. */
function found(fs: MemoryFileSystem): { readonly log: string | undefined; others: string[] } {
  fs.onCall = undefined;
  const names = fs.statSync("/a/b") === null ? [] : fs.listSync("/a/b");
  const log = names.includes("s.jsonl") ? fs.readFileSync(path).toString() : undefined;
  return { log, others: names.filter((name) => name !== "s.jsonl") };
}

/** The error of creating the log; undefined if it went well. */
function errorOf(fs: MemoryFileSystem, source: Iterable<Buffer> = chunks): unknown {
  return thrownBy(() => createLog(createMemoryPorts({ fs }), path, source));
}

describe("a new log", () => {
  it("is complete and private to its owner, like the created directories", () => {
    const directory = temporaryDirectory();
    const file = join(directory, "a", "b", "s.jsonl");
    createLog(nodePorts, file, chunks);
    expect(readFileSync(file, "utf8")).toBe(whole);
    expect(readdirSync(join(directory, "a", "b"))).toEqual(["s.jsonl"]);
    if (process.platform === "win32") return;
    const modes = [file, join(directory, "a"), join(directory, "a", "b")].map(
      (name) => statSync(name).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o700, 0o700]);
  });

  it.each([true, false])("equals its chunks, however they are written (links: %s)", (has) => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 });
    fc.assert(
      fc.property(pieces, fc.array(fc.boolean()), (arrays, shorts) => {
        const fs = new MemoryFileSystem();
        let writes = 0;
        fs.onCall = ({ name }) => {
          if (name === "linkSync" && !has) throw fileError("EPERM", "link");
          if (name !== "writeSync") return undefined;
          writes += 1;
          // Never twice running: half of one byte is none, and that is refused.
          return writes % 2 === 0 && shorts[writes] === true ? "short" : undefined;
        };
        const source = arrays.map((bytes) => Buffer.concat([bytes, Buffer.from("ab")]));
        expect(errorOf(fs, source)).toBeUndefined();
        expect(found(fs)).toEqual({ log: Buffer.concat(source).toString(), others: [] });
      }),
    );
  });

  it.each(["a file", "a directory", "a link to nothing"])("never replaces %s", (what) => {
    const file = join(temporaryDirectory(), "s.jsonl");
    if (what === "a file") writeFileSync(file, "precious");
    else if (what === "a directory") mkdirSync(file);
    else symlinkSync("nothing", file);
    const before = readdirSync(join(file, ".."));
    expect(() => createLog(nodePorts, file, chunks)).toThrow(
      expect.objectContaining({ code: "ERR_LOG_EXISTS", path: file }),
    );
    expect(readdirSync(join(file, ".."))).toEqual(before);
    if (what === "a file") expect(readFileSync(file, "utf8")).toBe("precious");
  });
});

describe("a log that cannot be created", () => {
  const codes: readonly FileErrorCode[] = ["EACCES", "EIO", "EMFILE", "ENOSPC", "EROFS"];
  const steps = [
    "makeDirectorySync",
    "openSync",
    "writeSync",
    "fdatasyncSync",
    "linkSync",
  ] as const;

  it.each(codes)("because of %s fails with the file, the cause and advice", (code) => {
    for (const step of steps) {
      const fs = new MemoryFileSystem();
      const cause = fileError(code, step);
      fs.onCall = ({ name }) => {
        if (name === step) throw cause;
      };
      const error = errorOf(fs);
      expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path, cause });
      expect(String(error)).toContain(path);
      expect(String(error)).toContain(cause.message);
      expect(String(error)).toMatch(/\. [A-Z].*\.$/);
      expect(found(fs)).toEqual({ log: undefined, others: [] });
    }
  });

  it.each(["file/s.jsonl", "file/a/s.jsonl"])("because of a file on its path: %s", (name) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "file"), "precious");
    const file = join(directory, name);
    const error = thrownBy(() => createLog(nodePorts, file, chunks));
    expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path: file });
    const { cause } = error as BranchlogError;
    expect(["EEXIST", "ENOTDIR"]).toContain((cause as NodeJS.ErrnoException).code);
    expect(readFileSync(join(directory, "file"), "utf8")).toBe("precious");
  });

  it("because another process writes there fails with that reason without hard links", () => {
    const { fs } = failingFileSystem(() => false, false);
    const ports = createMemoryPorts({ fs });
    const held = ports.lock.tryAcquireSync(path);
    const create = (): void => createLog(ports, path, chunks);
    expect(create).toThrow(expect.objectContaining({ code: "ERR_CREATE_FAILED", path }));
    held?.releaseSync();
    create();
    expect(ports.lock.tryAcquireSync(path)).not.toBeNull();
    expect(found(fs)).toEqual({ log: whole, others: [] });
  });

  it("because its bytes cannot be read passes on an error with a code, and wraps others", () => {
    const fs = new MemoryFileSystem();
    const known = new BranchlogError("ERR_LOG_GONE", "the source is gone");
    expect(errorOf(fs, throwing(known))).toBe(known);
    const cause = new RangeError("bug");
    expect(errorOf(fs, throwing(cause))).toMatchObject({ code: "ERR_CREATE_FAILED", cause });
    expect(found(fs)).toEqual({ log: undefined, others: [] });
  });

  it("because the file system writes no bytes fails", () => {
    const fs = new MemoryFileSystem();
    fs.onCall = () => "short";
    expect(errorOf(fs)).toMatchObject({ code: "ERR_CREATE_FAILED" });
    expect(found(fs)).toEqual({ log: undefined, others: [] });
  });

  it("fails when another file took the name, without hard links", () => {
    const fs = new MemoryFileSystem();
    fs.makeDirectorySync("/a/b");
    fs.onCall = ({ name }) => {
      if (name !== "linkSync") return;
      fs.onCall = undefined;
      fs.writeFileSync(path, Buffer.from("of another"));
      throw fileError("EPERM", "link");
    };
    expect(errorOf(fs)).toMatchObject({ code: "ERR_LOG_EXISTS" });
    expect(found(fs)).toEqual({ log: "of another", others: [] });
  });

  it.each([true, false])("leaves nothing, whichever call fails (links: %s)", (hasLinks) => {
    for (let number = 1; ; number += 1) {
      const { fs, failed } = failingFileSystem((call) => call === number, hasLinks);
      const error = errorOf(fs);
      const openCount = fs.openCount;
      const { log, others } = found(fs);
      if (failed.length === 0) break;
      expect([undefined, whole]).toContain(log);
      if (!failed.includes("unlinkSync")) expect(others).toEqual([]);
      expect(openCount).toBe(failed.includes("closeSync") ? 1 : 0);
      if (error === undefined) expect(log).toBe(whole);
      else expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path, cause: { code: "EIO" } });
      if (log === undefined) expect(errorOf(fs)).toBeUndefined();
    }
  });

  it.each([true, false])("leaves no part, whatever calls fail (links: %s)", (hasLinks) => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 24 }), (plan) => {
        const { fs, failed } = failingFileSystem((call) => plan[call] === true, hasLinks);
        const error = errorOf(fs);
        const { log, others } = found(fs);
        const cannotRemove = failed.includes("unlinkSync");
        // Without hard links the name is taken by an empty file, for a moment.
        expect(cannotRemove && !hasLinks ? [undefined, whole, ""] : [undefined, whole]).toContain(
          log,
        );
        if (!cannotRemove) expect(others).toEqual([]);
        if (error === undefined) expect(log).toBe(whole);
        else expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path });
      }),
      { numRuns: 500 },
    );
  });

  it("only because its directory was not synced exists, and the message reports it", () => {
    const fs = new MemoryFileSystem();
    let isNamed = false;
    fs.onCall = ({ name }) => {
      isNamed ||= name === "linkSync";
      if (name === "syncDirectorySync" && isNamed) throw fileError("EIO", "fsync", "/a/b");
    };
    const error = errorOf(fs);
    expect(error).toMatchObject({ code: "ERR_CREATE_FAILED", path });
    expect(String(error)).toContain("is complete");
    expect(found(fs)).toEqual({ log: whole, others: [] });
  });
});

function* throwing(error: Error): Generator<Buffer> {
  yield Buffer.from("part");
  throw error;
}

describe("a log from a stream", () => {
  const created = (fs: MemoryFileSystem, source: Iterable<Buffer>): Promise<unknown> =>
    rejection(createStreamedLog(createMemoryPorts({ fs }), path, Readable.from(source)));

  it("does not exist after the stream failed, with the error of the stream", async () => {
    const fs = new MemoryFileSystem();
    const error = new RangeError("no more");
    expect(await created(fs, throwing(error))).toBe(error);
    expect(found(fs)).toEqual({ log: undefined, others: [] });
  });

  it("is complete, or does not exist when any call fails, and the error reports it", async () => {
    for (let number = 1; ; number += 1) {
      const { fs, failed } = failingFileSystem((call) => call === number, true);
      const error = await created(fs, chunks);
      const { log, others } = found(fs);
      const [name = ""] = failed;
      // A second name that cannot be removed; links to the places of other agents are resolved as
      // far as possible.
      if (/^(?:|(?:unlink|realpath)Sync)$/.test(name))
        expect([error, log]).toEqual([undefined, whole]);
      else {
        expect(error).toBeInstanceOf(BranchlogError);
        expect(error).toMatchObject({ code: "ERR_CREATE_FAILED" });
        // Its name may not be durable yet.
        if (log !== undefined) expect([name, log]).toEqual(["syncDirectorySync", whole]);
        else expect(others).toEqual([]);
      }
      if (name === "") break;
    }
  });
});
