import {
  appendFileSync,
  copyFileSync,
  openSync,
  readFileSync,
  readdirSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts, nodePorts } from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { Engine } from "@branchlog/core/engine";
import { appendSync } from "../../support/engine-appends.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/${name}.jsonl`, import.meta.url));

function copyOf(name: string): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  copyFileSync(fixture(name), path);
  return path;
}

const say: EntryDraft = {
  type: "message",
  message: { role: "user", content: "after the migration", timestamp: 1 },
};

async function allEntries(session: Session): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const entry of session.entries()) entries.push(entry);
  return entries;
}

describe.each(["pi-v1", "pi-v1-boundaries", "pi-v2", "pi-v1-migrated"])("migrating %s", (name) => {
  it("happens at the first append, and opening alone changes nothing (Verifies: P8)", async () => {
    const path = copyOf(name);
    const before = readFileSync(path);
    const session = await openSession(path);
    await session.context();
    expect(readFileSync(path)).toEqual(before);
    await session.append(say);
    const [header] = readFileSync(path, "utf8").split("\n");
    expect(JSON.parse(header ?? "")).toMatchObject({ version: 3 });
  });

  it("keeps every entry, its id, the context and the original (Verifies: P19)", async () => {
    const path = copyOf(name);
    const original = readFileSync(path);
    const session = await openSession(path);
    const before = await allEntries(session);
    const context = await session.context();
    const leaf = session.leaf;
    const { parentId } = await session.append(say);
    expect(parentId).toBe(leaf);
    const after = await allEntries(session);
    expect(JSON.stringify(after.slice(0, -1))).toBe(JSON.stringify(before));
    const again = await openSession(path);
    expect(JSON.stringify(await allEntries(again))).toBe(JSON.stringify(after));
    expect((await again.context()).messages.slice(0, -1)).toEqual(context.messages);
    expect((await verifySession(again)).ok).toBe((await verifySession(session)).ok);
    const kept = readdirSync(dirname(path)).filter((file) => file.includes("-original"));
    const isOld = !original.toString().includes('"version":3');
    expect(kept).toHaveLength(isOld ? 1 : 0);
    if (isOld) expect(readFileSync(join(dirname(path), kept[0] ?? ""))).toEqual(original);
  });
});

describe("migrating beside others", () => {
  it("carries over what a writer without the lock appended to the old file", async () => {
    const path = copyOf("pi-v1");
    const line =
      '{"type":"message","timestamp":"2025-06-18T10:00:00.000Z","message":{"role":"user","content":"late"}}\n';
    const old = openSync(path, "a");
    const fs = {
      ...nodePorts.fs,
      renameSync: (from: string, to: string) => {
        nodePorts.fs.renameSync(from, to);
        writeSync(old, line);
      },
    };
    const session = await openSession(path, { ports: { fs } });
    const entries = session.revision;
    await session.append(say);
    expect(session.revision).toBe(entries + 2);
    const late = (await allEntries(session)).at(-2);
    expect(late).toMatchObject({ type: "message", message: { content: "late" } });
    expect(readFileSync(path, "utf8")).toContain("late");
  });

  it("includes what was appended while it converted", async () => {
    const path = copyOf("pi-v1");
    const line =
      '{"type":"message","timestamp":"2025-06-18T10:00:00.000Z","message":{"role":"user","content":"delta"}}';
    let isFirst = true;
    const lock = {
      tryAcquireSync: (name: string) => {
        if (isFirst) appendFileSync(path, line);
        isFirst = false;
        return nodePorts.lock.tryAcquireSync(name);
      },
    };
    const session = await openSession(path, { ports: { lock } });
    await session.append(say);
    const delta = (await allEntries(session)).at(-2);
    expect(delta).toMatchObject({ message: { content: "delta" } });
    expect((await verifySession(session)).ok).toBe(true);
  });

  it("lets a second session continue that opened the old file", async () => {
    const path = copyOf("pi-v2");
    const one = await openSession(path);
    const two = await openSession(path);
    await one.append(say);
    await two.append(say);
    await one.refresh();
    expect(one.revision).toBe(two.revision);
    expect(readdirSync(dirname(path)).filter((file) => file.includes("-original"))).toHaveLength(1);
  });
});

describe("a migration that fails", () => {
  it("at any file-system call leaves the old log or the new one, whole (Verifies: P12)", () => {
    const bytes = readFileSync(fixture("pi-v1"));
    const old = readEntries(bytes);
    let failures = 0;
    for (let n = 0; ; n += 1) {
      const { fs, engine } = memoryEngine(bytes);
      let calls = 0;
      fs.onCall = () => {
        calls += 1;
        if (calls === n + 1) throw Object.assign(new Error("EIO: simulated"), { code: "EIO" });
        return undefined;
      };
      const append = (): unknown => appendSync(engine, [{ draft: say }]);
      try {
        append();
      } catch {
        failures += 1;
      }
      const isDone = calls <= n;
      fs.onCall = undefined;
      const now = Engine.openSync("/s.jsonl", { ports: engine.settings.ports });
      const entries = [...now.bodies.entriesSync(now.index.rows.count === 0 ? [] : rowsOf(now))];
      const kept = entries.slice(0, old.length).map(({ entry }) => entry);
      expect(JSON.stringify(kept)).toBe(JSON.stringify(old));
      append();
      if (isDone) break;
    }
    expect(failures).toBeGreaterThan(10);
  });
});

function memoryEngine(bytes: Buffer): { fs: MemoryFileSystem; engine: Engine } {
  const fs = new MemoryFileSystem();
  const fd = fs.openSync("/s.jsonl", "create");
  fs.writeSync(fd, bytes, 0, bytes.length);
  fs.closeSync(fd);
  const ports = createMemoryPorts({ fs });
  return { fs, engine: Engine.openSync("/s.jsonl", { ports }) };
}

function readEntries(bytes: Buffer): unknown[] {
  const { engine } = memoryEngine(bytes);
  return [...engine.bodies.entriesSync(rowsOf(engine))].map(({ entry }) => entry);
}

function rowsOf(engine: Engine): number[] {
  return Array.from({ length: engine.index.count }, (_, row) => row);
}
