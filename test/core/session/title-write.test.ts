/**
 * Naming a session in its title slot: the one write in place, which must not harm anything else.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { MemoryFileSystem, MemoryLock } from "@branchlog/core/testing";
import { runSync } from "@branchlog/streaming";
import { live } from "@branchlog/core/live";
import { readTitleSlot } from "../../../packages/core/src/dialects/title-slot.ts";
import { Engine } from "../../../packages/core/src/session/engine.ts";
import { writeTitle } from "../../../packages/core/src/session/title-write.ts";
import { fixtureBytes } from "../../support/fixture.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";
import { thrownBy } from "../../support/typed-errors.ts";
import { userMessage } from "../projections/sample-entries.ts";

const slotBytes = 256;

function copy(): string {
  return temporaryFile(fixtureBytes("omp-18"), "session.jsonl");
}

/** The fixture on a file system in memory, opened. */
function inMemory(options: { readonly lockWaitMs?: number } = {}): {
  readonly fs: MemoryFileSystem;
  readonly engine: Engine;
  readonly name: (title: string) => boolean;
} {
  const fs = new MemoryFileSystem();
  fs.writeFileSync("/session.jsonl", fixtureBytes("omp-18"));
  const ports = { fs, lock: new MemoryLock(), ...reproducible() };
  const engine = Engine.openSync("/session.jsonl", { ports, checkpoint: "off", ...options });
  const name = (title: string): boolean => runSync(writeTitle(engine, title, "user"));
  return { fs, engine, name };
}

describe("a session with a title slot", () => {
  it("has the name in the slot, and is renamed there without changing other bytes", async () => {
    const path = copy();
    const before = readFileSync(path);
    const session = await openSession(path);
    expect([session.name, session.dialect]).toEqual(["Mending the parser", "omp"]);
    expect(await session.setName("  A new\nname ")).toBeNull();
    expect(session.name).toBe("A new name");
    const after = readFileSync(path);
    expect(after).toHaveLength(before.length);
    expect(after.subarray(slotBytes)).toEqual(before.subarray(slotBytes));
    expect(readTitleSlot(after)).toMatchObject({ title: "A new name", source: "user" });
    await session.close();
  });

  it("has no name after it is cleared, whatever its entries have", async () => {
    const path = copy();
    const session = await openSession(path);
    await session.setName("");
    expect(session.name).toBeUndefined();
    expect((await openSession(path)).name).toBeUndefined();
  });

  it("reaches the subscribers of its name", async () => {
    const path = copy();
    const session = await openSession(path, { pollMs: 20 });
    const names: (string | undefined)[] = [];
    const renamed = new Promise<void>((resolve) => {
      live(session).name$.subscribe(({ value }) => {
        names.push(value);
        if (names.length === 2) resolve();
      });
    });
    const other = await openSession(path);
    await other.setName("seen");
    await renamed;
    expect(names).toEqual(["Mending the parser", "seen"]);
    await Promise.all([session.close(), other.close()]);
  });

  it("appends after it was renamed, by either program", async () => {
    const path = copy();
    const [one, other] = [await openSession(path), await openSession(path)];
    await one.setName("first");
    await other.append({ type: "message", message: userMessage("a") });
    await one.append({ type: "message", message: userMessage("b") });
    await other.setName("second");
    await one.refresh();
    expect([one.name, other.name]).toEqual(["second", "second"]);
    expect(one.diagnostics.filter(({ kind }) => kind === "lost-entries")).toEqual([]);
    expect((await openSession(path)).revision).toBe(one.revision);
  });
});

describe("writing a title", () => {
  it("is rejected without a slot", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    await createSession(path, { dialect: "omp", title: "in the header" });
    const engine = Engine.openSync(path);
    const before = readFileSync(path);
    const write = (): boolean => runSync(writeTitle(engine, "x", "user"));
    expect(write).toThrow(expect.objectContaining({ code: "ERR_APPEND_FAILED", path }));
    expect(readFileSync(path)).toEqual(before);
  });

  it("is rejected when the slot became a header", () => {
    const { fs, name } = inMemory();
    const header = `{"type":"session","version":3,"id":"a","timestamp":"","cwd":"/"}\n`;
    fs.writeFileSync("/session.jsonl", Buffer.from(header.padEnd(900, "\n")));
    expect(() => name("x")).toThrow(expect.objectContaining({ code: "ERR_APPEND_FAILED" }));
    expect(fs.readFileSync("/session.jsonl").toString().startsWith(header)).toBe(true);
  });

  it("waits for omp, and reports when that takes too long", () => {
    const { fs, engine, name } = inMemory({ lockWaitMs: 100 });
    const lock = "/.session.jsonl.lock";
    const record = `1:${engine.settings.ports.clock.now()}`;
    fs.writeFileSync(lock, Buffer.from(record));
    const before = fs.readFileSync("/session.jsonl");
    expect(() => name("x")).toThrow(expect.objectContaining({ code: "ERR_LOCK_TIMEOUT" }));
    expect(fs.readFileSync("/session.jsonl")).toEqual(before);
    expect(fs.readFileSync(lock).toString()).toBe(record);
    fs.unlinkSync(lock);
    name("x");
    expect(fs.statSync(lock)).toBeNull();
  });

  it("is rejected for readers", () => {
    const path = copy();
    const engine = Engine.openSync(path, { access: "read" });
    const write = (): boolean => runSync(writeTitle(engine, "x", "user"));
    expect(write).toThrow(expect.objectContaining({ code: "ERR_READ_ONLY" }));
  });

  it("changes no entry when any call fails, and leaves no lock", () => {
    for (let nth = 1; ; nth += 1) {
      const { fs, name } = inMemory({ lockWaitMs: 50 });
      const before = fs.readFileSync("/session.jsonl");
      let calls = 0;
      fs.onCall = () => {
        calls += 1;
        if (calls === nth) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      };
      const failure = thrownBy(() => name("after a failure"));
      fs.onCall = undefined;
      const after = fs.readFileSync("/session.jsonl");
      expect(after.subarray(slotBytes)).toEqual(before.subarray(slotBytes));
      if (calls < nth) {
        expect(failure).toBeUndefined();
        return;
      }
      expect(readTitleSlot(after)?.title).toMatch(/^(?:Mending the parser|after a failure)$/);
    }
  });

  it("continues after a short write", () => {
    const { fs, engine, name } = inMemory();
    let isShort = true;
    fs.onCall = ({ name: call }) => {
      if (call !== "updateSync" || !isShort) return undefined;
      isShort = false;
      return "short";
    };
    name("in two parts");
    expect(engine.log.state.name).toBe("in two parts");
  });

  it("is not done by an agent when a user has just named the session", () => {
    const { engine, name } = inMemory();
    const { ports } = engine.settings;
    const other = Engine.openSync("/session.jsonl", { ports, checkpoint: "off" });
    expect(name("said by its user")).toBe(true);
    expect(runSync(writeTitle(other, "made up", "auto"))).toBe(false);
    expect(other.log.state.name).toBe("said by its user");
  });

  it("leaves no lock of omp on a full disk, and gives advice", () => {
    const { fs, name } = inMemory();
    fs.onCall = ({ name: call, path }) => {
      if (call !== "writeSync" || path?.endsWith(".lock") !== true) return;
      throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
    };
    expect(() => name("x")).toThrow(expect.objectContaining({ code: "ERR_APPEND_FAILED" }));
    fs.onCall = undefined;
    expect(fs.statSync("/.session.jsonl.lock")).toBeNull();
    expect(name("y")).toBe(true);
  });

  it("does not remove a lock that another process took over", () => {
    const { fs, name } = inMemory();
    fs.onCall = ({ name: call }) => {
      if (call === "updateSync") fs.writeFileSync("/.session.jsonl.lock", Buffer.from("999:1"));
    };
    name("x");
    expect(fs.readFileSync("/.session.jsonl.lock").toString()).toBe("999:1");
  });

  it("removes a stale lock of omp", () => {
    const { fs, engine, name } = inMemory();
    const { clock } = engine.settings.ports;
    fs.writeFileSync("/.session.jsonl.lock", Buffer.from(`1:${clock.now()}`));
    clock.sleepSync(60_000);
    name("at last");
    expect(engine.log.state.name).toBe("at last");
  });
});

it("a log with a torn slot opens with the name from its entries", async () => {
  const path = copy();
  const bytes = readFileSync(path);
  bytes.write("{{{", 0);
  writeFileSync(path, bytes);
  const session = await openSession(path);
  expect(session.name).toBe("A parser");
  expect(session.revision).toBe(17);
});
