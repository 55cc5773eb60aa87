/**
 * Law: for every prefix of a log, opening yields exactly its complete records, and appending works.
 */
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { runs } from "../support/fault-seed.ts";
import { fixtureBytes } from "../support/fixture.ts";
import { BlockingSession } from "../support/blocking-session.ts";

function sessionOn(bytes: Buffer): { session: BlockingSession; contents: () => Buffer } {
  const fs = new MemoryFileSystem();
  const fd = fs.openSync("/s.jsonl", "create");
  fs.writeSync(fd, bytes, 0, bytes.length);
  const session = BlockingSession.open("/s.jsonl", { ports: createMemoryPorts({ fs }) });
  const contents = (): Buffer => {
    const { size } = fs.fstatSync(fd);
    const all = Buffer.alloc(size);
    fs.readSync(fd, all, 0, size, 0);
    return all;
  };
  return { session, contents };
}

const draft = { type: "custom", customType: "after" };

describe.each(["seed-pi", "pi-crlf"])("the log %s, cut off at every byte", (name) => {
  const whole = fixtureBytes(name);
  const headerEnd = whole.indexOf("\n") + 1;
  const lines = whole.toString().split("\n");

  it("keeps its complete records, and the next append is readable (Verifies: P9, P10)", () => {
    for (let cut = headerEnd; cut <= whole.length; cut += runs(9, 1)) {
      const prefix = whole.subarray(0, cut);
      const { session, contents } = sessionOn(prefix);
      const wholeLines = prefix.toString().split("\n").length - 2;
      // The last line counts as readable once only its line end is missing.
      const lastLine = lines[wholeLines + 1]?.replace(/\r$/, "") ?? "";
      const rest = prefix
        .subarray(prefix.lastIndexOf(0x0a) + 1)
        .toString()
        .replace(/\r$/, "");
      const readable = wholeLines + (rest !== "" && rest === lastLine ? 1 : 0);
      expect(session.tree().size).toBe(readable);
      expect(session.revision).toBe(wholeLines);

      const last = session.entries().at(-1)?.id ?? null;
      const [result] = session.append({ draft });
      const after = contents();
      expect(after.subarray(0, cut).equals(prefix)).toBe(true);
      const again = sessionOn(after).session;
      expect(again.tree().size).toBe(readable + 1);
      expect(again.tail).toBe(result?.id);
      expect(again.entries().at(-1)?.parentId).toBe(last);
    }
  });
});
