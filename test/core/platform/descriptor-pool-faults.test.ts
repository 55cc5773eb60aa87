/** The descriptor pool on failure, and whose it is. */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, fileError } from "@branchlog/core/testing";
import { descriptorPoolOf } from "../../../packages/core/src/platform/descriptor-pool.ts";
import { nodeFileSystem } from "../../../packages/core/src/platform/node-file-system.ts";
import { pooledFiles } from "./pooled-files.ts";

describe("on failure", () => {
  it("a descriptor is released when the action throws or rejects", async () => {
    const { pool, path } = pooledFiles();
    const bug = new Error("bug");
    const fail = (): never => {
      throw bug;
    };
    expect(() => pool.useSync(path("a"), "read", undefined, fail)).toThrow(bug);
    await expect(pool.use(path("a"), "read", undefined, fail)).rejects.toBe(bug);
    pool.closeIdle();
    expect(pool.openCount).toBe(0);
  });

  it("nothing leaks when a file cannot be opened or examined", () => {
    const { fs, pool, read } = pooledFiles();
    for (const failing of ["openSync", "fstatSync"]) {
      fs.onCall = ({ name, path }) => {
        if (name === failing) throw fileError("EIO", name, path);
      };
      expect(() => read("a")).toThrow(expect.objectContaining({ code: "EIO" }));
      expect([pool.openCount, fs.openCount]).toEqual([0, 0]);
    }
    fs.onCall = undefined;
    expect(read("a")).toBe("a");
  });

  it("a descriptor that cannot be closed fails neither its last use nor its release", () => {
    const { fs, pool, path, read } = pooledFiles();
    read("a");
    fs.onCall = ({ name }) => {
      if (name === "closeSync") throw fileError("EIO", "close");
    };
    pool.release(path("a"));
    expect(read("a")).toBe("a");
    expect(pool.openCount).toBe(0);
  });

  it("cached descriptors are closed when the process runs out of them", () => {
    const { fs, read } = pooledFiles();
    for (const name of "ab") read(name);
    fs.onCall = ({ name, path }) => {
      if (name === "openSync" && fs.openCount > 0) throw fileError("EMFILE", "open", path);
    };
    expect(read("c")).toBe("c");
    expect(fs.openCount).toBe(1);
  });

  it("running out of descriptors is reported when there are none to close", () => {
    const { fs, read } = pooledFiles();
    fs.onCall = ({ name, path }) => {
      if (name === "openSync") throw fileError("EMFILE", "open", path);
    };
    expect(() => read("a")).toThrow(expect.objectContaining({ code: "EMFILE" }));
    expect(fs.callCount("openSync")).toBe(1);
  });
});

it("the pool of a file system is one per file system, and the machine's one per process", () => {
  const [one, other] = [new MemoryFileSystem(), new MemoryFileSystem()];
  expect(descriptorPoolOf(one)).toBe(descriptorPoolOf(one));
  expect(descriptorPoolOf(one)).not.toBe(descriptorPoolOf(other));
  const pool = descriptorPoolOf(nodeFileSystem);
  expect(Reflect.get(globalThis, Symbol.for("branchlog.descriptor-pool.3"))).toBe(pool);
});
