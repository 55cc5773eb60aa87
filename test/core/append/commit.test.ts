/** Where the lines of an append are when its write did not end as planned. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { AppendResult, EntryDraft } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, fileError } from "@branchlog/core/testing";
import { appendTo } from "../../support/append-to.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { rawLog } from "../../support/raw-log.ts";

const path = "/s.jsonl";
const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n';
const first = '{"type":"custom","customType":"x","id":"first","parentId":null}';
const peer = '{"type":"custom","customType":"peer","id":"peer","parentId":null}\n';
const drafts: readonly EntryDraft[] = ["one", "two"].map((data) => ({
  type: "custom",
  customType: "x",
  data,
}));

/** Appends both drafts to a log; `around` does its first write, and something else. */
async function appendedTo(
  memory: MemoryFileSystem,
  text: string,
  around: (write: () => void, stopReads: () => void) => void,
): Promise<readonly AppendResult[]> {
  memory.writeFileSync(path, Buffer.from(text));
  let [isFirst, canRead] = [true, true];
  const fs = observedFileSystem(memory, (call, effect) => {
    if (call.name === "readSync" && !canRead) throw fileError("EIO", "read", path);
    if (call.name !== "writeSync" || !isFirst) return effect();
    isFirst = false;
    let written: ReturnType<typeof effect> | undefined;
    around(
      () => void (written = effect()),
      () => void (canRead = false),
    );
    return written ?? effect(0);
  });
  const session = await openSession(path, { ports: createMemoryPorts({ fs }) });
  return session.appendAll(drafts);
}

describe("an append", () => {
  it("to a log that ends without a newline displaces only the lines written again", async () => {
    const memory = new MemoryFileSystem();
    const results = await appendedTo(memory, header + first, (write) => {
      write();
      // The newline and the first line stay; the second line is truncated.
      const bytes = memory.readFileSync(path);
      const end = bytes.indexOf("\n", header.length + first.length + 1) + 1;
      memory.writeFileSync(path, bytes.subarray(0, end + 5));
    });
    expect(results.map(({ displaced }) => displaced)).toEqual([false, true]);
    const { entries } = rawLog(memory.readFileSync(path));
    expect(entries.map(({ id }) => id)).toEqual(["first", ...results.map(({ id }) => id)]);
  });

  it("is completed in a log that replaces it with some of its lines, without duplicates", async () => {
    const memory = new MemoryFileSystem();
    await appendedTo(memory, header, (write) => {
      write();
      const bytes = memory.readFileSync(path);
      memory.writeFileSync("/o", bytes.subarray(0, bytes.indexOf("\n", header.length) + 1));
      memory.renameSync("/o", path);
    });
    const { entries } = rawLog(memory.readFileSync(path));
    expect(entries.map((entry) => entry["data"])).toEqual(["one", "two"]);
    expect(entries[1]?.parentId).toBe(entries[0]?.id);
  });

  it("after which the log cannot be read has the failed write as its cause, or the read", async () => {
    for (const hasRoom of [true, false]) {
      const memory = new MemoryFileSystem();
      const append = appendedTo(memory, header, (write, stopReads) => {
        appendTo(memory, path, peer);
        stopReads();
        if (!hasRoom) throw fileError("ENOSPC", "write", path);
        write();
      });
      await expect(append).rejects.toMatchObject({
        code: "ERR_APPEND_UNCERTAIN",
        written: [],
        cause: hasRoom ? (expect.anything() as unknown) : { code: "ENOSPC" },
      });
    }
  });
});
