/** What is known of a log that ends within a line: what counts, what is saved, what is read again. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { TrackedLog } from "../../../packages/core/src/log/tracked-log.ts";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";

const path = "/s.jsonl";
const whole = jsonLines(sampleHeader(), userEntry("a", null, "one"));
const second = JSON.stringify(userEntry("b", "a", "two"));
const third = jsonLines(userEntry("c", "b", "three"));

function openedLog(text: string, lineBytesMax = 1024 * 1024) {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, Buffer.from(text));
  const engine = Engine.openSync(path, { ports: createMemoryPorts({ fs }), lineBytesMax });
  /** Adds to the log as another program does, and reads on. */
  const grow = (more: string): void => {
    fs.writeFileSync(path, Buffer.concat([fs.readFileSync(path), Buffer.from(more)]));
    engine.refreshSync();
  };
  const ids = (): string[] =>
    Array.from({ length: engine.index.count }, (_, row) => engine.index.idOf(row));
  return { engine, grow, ids, fs };
}

describe("a log that ends within a line", () => {
  it("is saved only as far as it ends in a newline", () => {
    const { engine, grow } = openedLog(whole);
    expect(engine.log.state.save()).toMatchObject({ end: whole.length });
    grow('{"type":"mess');
    expect(engine.log.state.save()).toBeNull();
    grow("age\n");
    const damaged = `${whole}{"type":"message\n`;
    expect(engine.log.state.save()).toMatchObject({ end: damaged.length });
    grow(second);
    expect([engine.log.state.pendingRow, engine.log.state.save()]).toEqual([1, null]);
    grow("\n");
    expect(engine.log.state.save()).toMatchObject({ end: damaged.length + second.length + 1 });
  });

  it.each([1024 * 1024, 64])(
    "continues when the line is ended (lineBytesMax %d)",
    (lineBytesMax) => {
      const { engine, grow, ids } = openedLog(`${whole}${second}`, lineBytesMax);
      const { generation, state } = engine.log;
      grow(`\n${third}`);
      expect(ids()).toEqual(["a", "b", "c"]);
      expect([engine.log.state, engine.log.generation]).toEqual([state, generation]);
      expect([state.isBroken, state.revision, state.pendingRow]).toEqual([false, 3, -1]);
    },
  );

  it("does not count a line that only lacks its newline, entry or not", () => {
    for (const rest of [second, '{"x":1}', "[1]"]) {
      const { engine, grow } = openedLog(`${whole}${rest}`);
      expect([rest, engine.log.state.revision]).toEqual([rest, 1]);
      grow("\n");
      expect([rest, engine.log.state.revision]).toEqual([rest, rest === second ? 2 : 1]);
    }
  });

  it("drops a line that seemed complete and then continued", () => {
    for (const more of [" and more", " and more\n", `"}\n${third}`]) {
      const { engine, grow, ids } = openedLog(`${whole}${second}`);
      grow(more);
      expect([more, ids()]).toEqual([more, more.includes("c") ? ["a", "c"] : ["a"]]);
      const { state } = engine.log;
      expect(state.isBroken).toBe(false);
      grow(more.endsWith("\n") ? "" : "\n");
      expect(engine.log.state.save()).not.toBeNull();
    }
  });

  it("drops a line that seemed complete and then continued beyond the joining limit", () => {
    const lineBytesMax = 256;
    const { engine, grow, ids } = openedLog(`${whole}${second}`, lineBytesMax);
    expect(ids()).toEqual(["a", "b"]);
    const { generation } = engine.log;
    grow(`${" and more".repeat(100)}\n${third}`);
    expect(ids()).toEqual(["a", "c"]);
    expect(engine.log.generation).toBe(generation + 1);
  });

  it("reports whether it has a line exactly, without its newline, not, or unknown if unreadable", () => {
    const { engine, fs } = openedLog(`${whole}${second}`);
    expect(new TrackedLog(new LogFile(fs, path), engine.settings).size).toBe(0);
    const first = jsonLines(userEntry("a", null, "one"));
    const holds = (id: string, text: string): string => engine.log.holds(id, Buffer.from(text));
    expect(holds("a", first)).toBe("yes");
    expect(holds("b", `${second}\n`)).toBe("unterminated");
    expect(holds("c", first)).toBe("no");
    for (const other of ["two", "longer"])
      expect(holds("a", first.replace("one", other))).toBe("no");
    const offsets = ["a", "c"].map((id) => engine.log.offsetOf(id));
    expect(offsets).toEqual([whole.length - first.length, -1]);
    fs.onCall = ({ name }) => {
      if (name === "readSync") throw new Error("EIO: i/o error, read");
    };
    expect(holds("a", first)).toBe("unknown");
  });

  it("has a finding of a lost entry, without its position", () => {
    const { engine } = openedLog(whole);
    engine.findings.addMalformed({ entryId: "gone", reason: "no-replacement" });
    const gone = { kind: "malformed-body", id: "gone", reason: "no-replacement" };
    expect(engine.diagnostics).toEqual([gone]);
  });

  it("keeps a pending line when only a space follows", async () => {
    const { grow, ids, fs } = openedLog(`${whole}${second}`);
    grow(" ");
    expect(ids()).toEqual(["a", "b"]);
    grow("\n");
    expect(ids()).toEqual(["a", "b"]);
    const anew = await openSession(path, { ports: createMemoryPorts({ fs }) });
    expect([anew.leaf, anew.revision]).toEqual(["b", 2]);
  });
});
