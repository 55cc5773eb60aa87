/** Files that take their name in one step, or leave what has it. */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import {
  AtomicFile,
  makeDurableDirectory,
} from "../../../packages/core/src/platform/atomic-file.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { failEveryCall, failingFileSystem, failures } from "../../support/failing-calls.ts";

const path = "/d/file";

function directoryWith(content?: string): MemoryFileSystem {
  const fs = new MemoryFileSystem();
  fs.makeDirectorySync("/d");
  if (content !== undefined) fs.writeFileSync(path, Buffer.from(content));
  return fs;
}

const filesIn = (fs: MemoryFileSystem): Record<string, string> =>
  Object.fromEntries(
    fs.listSync("/d").map((name) => [name, fs.readFileSync(`/d/${name}`).toString()]),
  );

describe("a file that takes its name in one step", () => {
  it("has only a temporary name before, and is gone when it is discarded", () => {
    const fs = directoryWith("old");
    const file = new AtomicFile(createMemoryPorts({ fs }), path);
    file.add(Buffer.from("new"));
    expect(filesIn(fs)).toEqual({ file: "old", [file.temporary.slice(3)]: "new" });
    expect(file.hasName()).toBe(false);
    file.discard();
    file.discard();
    expect([filesIn(fs), fs.openCount]).toEqual([{ file: "old" }, 0]);
  });

  it("replaces the file with the name, and can be written to from then on", () => {
    const fs = directoryWith("old");
    const file = new AtomicFile(createMemoryPorts({ fs }), path);
    file.add(Buffer.from("new"));
    file.replace();
    expect(file.hasName()).toBe(true);
    file.add(Buffer.from("er"));
    file.discard();
    expect([filesIn(fs), fs.openCount]).toEqual([{ file: "newer" }, 0]);
  });

  it("is not removed again under a name that it lost", () => {
    const fs = directoryWith();
    const file = new AtomicFile(createMemoryPorts({ fs }), path);
    file.replace();
    file.discard();
    file.discard();
    expect([fs.callCount("unlinkSync"), fs.callCount("closeSync")]).toEqual([0, 1]);
    const published = new AtomicFile(createMemoryPorts({ fs }), "/d/other");
    published.publish();
    published.discard();
    published.discard();
    expect([fs.callCount("unlinkSync"), fs.callCount("closeSync")]).toEqual([1, 2]);
    expect(filesIn(fs)).toEqual({ file: "", other: "" });
  });

  it("reports unknown whether it has its name when nothing can be read", () => {
    const fs = directoryWith();
    const file = new AtomicFile(createMemoryPorts({ fs }), path);
    expect(file.hasName()).toBe(false);
    fs.onCall = () => {
      throw new Error("EIO");
    };
    expect(file.hasName()).toBeUndefined();
  });

  it.each(Object.keys(failures))("leaves the complete old or new file: %s", async (kind) => {
    await failEveryCall(async (n) => {
      const memory = directoryWith("old");
      const failing = failingFileSystem(memory);
      const failure = failures[kind];
      if (failure !== undefined) failing.arm(n, failure);
      let file: AtomicFile | undefined;
      try {
        file = new AtomicFile(createMemoryPorts({ fs: failing.fs }), path);
        file.add(Buffer.from("new"));
        await file.sync();
        file.close();
        file.replace();
        file.syncName();
      } catch {
        // What has the name is compared below.
      } finally {
        file?.discard();
      }
      const hasFailed = failing.disarm();
      expect(["old", "new"]).toContain(memory.readFileSync(path).toString());
      if (!hasFailed) expect(filesIn(memory)).toEqual({ file: "new" });
      return hasFailed;
    });
  });
});

describe("a directory created for a file", () => {
  it("is synced with all of its missing parents, and no others", () => {
    const fs = new MemoryFileSystem();
    fs.makeDirectorySync("/d");
    const synced: string[] = [];
    fs.onCall = ({ name, path: at }) => {
      if (name === "syncDirectorySync") synced.push(at ?? "");
    };
    makeDurableDirectory(fs, "/d/a/b/c");
    expect(fs.listSync("/d/a/b/c")).toEqual([]);
    expect(synced).toEqual(["/d/a/b", "/d/a", "/d"]);
    makeDurableDirectory(fs, "/d/a/b");
    expect(synced).toHaveLength(3);
  });

  it("ends its search at the root, also when nothing is found", () => {
    const memory = new MemoryFileSystem();
    const fs = observedFileSystem(memory, (_, effect) => effect());
    makeDurableDirectory({ ...fs, statSync: () => null }, "/d");
    expect(memory.listSync("/d")).toEqual([]);
    expect(memory.callCount("syncDirectorySync")).toBe(1);
  });
});
