/** Law: for every prefix of a log, opening yields exactly its whole records, and appending works. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "../../packages/core/src/errors.ts";
import { encodeDraft } from "../../packages/core/src/entries/encode-entry.ts";
import { appendItem } from "../../packages/core/src/session/append-entries.ts";
import { Engine } from "../../packages/core/src/session/engine.ts";
import { LeafCursor } from "../../packages/core/src/session/leaf-cursor.ts";
import { treeView } from "../../packages/core/src/projections/tree.ts";
import { runSync } from "../../packages/core/src/session/steps.ts";
import { MemoryFileSystem } from "../../packages/core/src/store/memory-file-system.ts";
import { createMemoryPorts } from "../../packages/core/src/store/memory-ports.ts";

const fixture = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${name}.jsonl`, import.meta.url)));

function engineOn(bytes: Buffer): { engine: Engine; contents: () => Buffer } {
  const fs = new MemoryFileSystem();
  const fd = fs.openSync("/s.jsonl", "create");
  fs.writeSync(fd, bytes, 0, bytes.length);
  const engine = Engine.openSync("/s.jsonl", { ports: createMemoryPorts({ fs }) });
  const contents = (): Buffer => {
    const { size } = fs.fstatSync(fd);
    const all = Buffer.alloc(size);
    fs.readSync(fd, all, 0, size, 0);
    return all;
  };
  return { engine, contents };
}

const draft = { type: "custom", customType: "after" };

function append(engine: Engine, leaf: LeafCursor): string {
  const items = [appendItem(encodeDraft(draft, "2026-01-01T00:00:00.000Z"))];
  const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
  const [result] = runSync(engine.append(request, leaf), engine.settings.ports.clock);
  return result?.id ?? "";
}

describe.each(["seed-pi", "pi-crlf"])("the log %s, cut off at every byte", (name) => {
  const whole = fixture(name);
  const headerEnd = whole.indexOf("\n") + 1;
  const lines = whole.toString().split("\n");

  it("holds its whole records, and the next append is readable (Verifies: P9, P10)", () => {
    for (let cut = headerEnd; cut <= whole.length; cut += 1) {
      const prefix = whole.subarray(0, cut);
      const { engine, contents } = engineOn(prefix);
      const wholeLines = prefix.toString().split("\n").length - 2;
      // The last line counts as readable once only its line end is missing.
      const lastLine = lines[wholeLines + 1]?.replace(/\r$/, "") ?? "";
      const rest = prefix
        .subarray(prefix.lastIndexOf(0x0a) + 1)
        .toString()
        .replace(/\r$/, "");
      const readable = wholeLines + (rest !== "" && rest === lastLine ? 1 : 0);
      expect(treeView(engine.index).size).toBe(readable);
      expect(engine.log.state.revision).toBe(wholeLines);

      const leaf = new LeafCursor(true, engine.tailId);
      const id = append(engine, leaf);
      const after = contents();
      expect(after.subarray(0, cut).equals(prefix)).toBe(true);
      const again = engineOn(after).engine;
      expect(treeView(again.index).size).toBe(readable + 1);
      expect(again.tailId).toBe(id);
      const parent = readable === 0 ? null : engine.index.idOf(readable - 1);
      expect(again.index.parentIdOf(again.index.count - 1)).toBe(parent);
    }
  });
});

describe("an append whose file-system calls fail", () => {
  it("names what landed, changes nothing else, and the next one works (Verifies: P12)", () => {
    const errors = ["EIO", "ENOSPC", "short"] as const;
    for (const error of errors) {
      for (let n = 0; ; n += 1) {
        const { engine, calls } = failingEngine(n, error);
        const leaf = new LeafCursor(true, engine.tailId);
        const before = { leaf: leaf.id, count: engine.index.count };
        let failed: unknown;
        try {
          append(engine, leaf);
        } catch (reason) {
          failed = reason;
        }
        const hit = calls.count > n;
        calls.failAt = -1;
        const onDisk = reopen(engine).index.count;
        const isUnknown = isBranchlogError(failed, "ERR_APPEND_UNCERTAIN");
        const landed = isUnknown ? onDisk - before.count : landedOf(failed);
        expect(failed === undefined || isBranchlogError(failed)).toBe(true);
        expect(onDisk).toBe(before.count + landed);
        if (failed !== undefined && landed === 0) expect(leaf.id).toBe(before.leaf);
        const next = append(engine, leaf);
        const after = reopen(engine);
        expect(after.index.count).toBe(before.count + landed + 1);
        expect(after.tailId).toBe(next);
        if (!hit) break;
      }
    }
  });
});

function landedOf(error: unknown): number {
  if (error === undefined) return 1;
  return isBranchlogError(error) ? error.landed.length : 0;
}

function reopen(engine: Engine): Engine {
  return Engine.openSync("/s.jsonl", { ports: engine.settings.ports });
}

function failingEngine(
  failAt: number,
  error: "EIO" | "ENOSPC" | "short",
): { engine: Engine; calls: { count: number; failAt: number } } {
  const { engine } = engineOn(fixture("seed-pi"));
  const { fs } = engine.settings.ports;
  if (!(fs instanceof MemoryFileSystem)) throw new Error("not in memory");
  const calls = { count: 0, failAt };
  fs.onCall = ({ name }) => {
    const isHit = calls.failAt >= 0 && calls.count === calls.failAt;
    calls.count += 1;
    if (!isHit) return undefined;
    if (error === "short") return name === "writeSync" ? "short" : undefined;
    throw Object.assign(new Error(`${error}: simulated`), { code: error });
  };
  return { engine, calls };
}
