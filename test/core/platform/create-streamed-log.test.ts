/** Logs that are created from bytes that come one after the other: whole, or not there. */
import { describe, expect, it } from "vitest";
import { BranchlogError } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { createStreamedLog } from "../../../packages/core/src/platform/atomic-file.ts";
import { rejection } from "../../support/typed-errors.ts";

const path = "/a/b/s.jsonl";

async function* chunks(): AsyncGenerator<Buffer> {
  yield Buffer.from("one\n");
  yield Buffer.from("two\n");
}

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from("one\n");
  throw new RangeError("no more");
}

function namesIn(fs: MemoryFileSystem): readonly string[] {
  fs.onCall = undefined;
  return fs.statSync("/a/b") === null ? [] : fs.listSync("/a/b");
}

describe("a log from a stream", () => {
  it("is there whole, with the directories that were missing", async () => {
    const fs = new MemoryFileSystem();
    await createStreamedLog(createMemoryPorts({ fs }), path, chunks());
    expect(fs.readFileSync(path).toString()).toBe("one\ntwo\n");
    expect(namesIn(fs)).toEqual(["s.jsonl"]);
  });

  it("is not there if the stream fails, with the error of the stream", async () => {
    const fs = new MemoryFileSystem();
    const error = await rejection(createStreamedLog(createMemoryPorts({ fs }), path, failing()));
    expect(error).toBeInstanceOf(RangeError);
    expect(namesIn(fs)).toEqual([]);
  });

  it("is not there if any call fails, and the error says so", async () => {
    const counting = new MemoryFileSystem();
    let calls = 0;
    counting.onCall = () => {
      calls += 1;
      return undefined;
    };
    await createStreamedLog(createMemoryPorts({ fs: counting }), path, chunks());
    for (let failed = 1; failed <= calls; failed += 1) {
      const fs = new MemoryFileSystem();
      let [call, name] = [0, ""];
      fs.onCall = (made) => {
        call += 1;
        if (call !== failed) return undefined;
        ({ name } = made);
        throw Object.assign(new Error("broken"), { code: "EIO" });
      };
      const error = await rejection(createStreamedLog(createMemoryPorts({ fs }), path, chunks()));
      // The log is there by then: a second name that cannot be removed, or a name not yet durable.
      // Links to the places of other agents are resolved as far as possible.
      const isThere = namesIn(fs).includes("s.jsonl");
      if (error === undefined)
        expect([/^(?:unlink|realpath)Sync$/.test(name), isThere]).toEqual([true, true]);
      else {
        expect(error).toBeInstanceOf(BranchlogError);
        expect(error).toMatchObject({ code: "ERR_CREATE_FAILED" });
        if (isThere) expect(name).toBe("syncDirectorySync");
        else expect(namesIn(fs)).toEqual([]);
      }
    }
  });
});
