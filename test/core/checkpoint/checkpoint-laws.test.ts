/** Checkpoints of logs in any state, and what is appended to them afterwards. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { OpenOptions, Session } from "@branchlog/core";
import {
  ManualClock,
  MemoryFileSystem,
  createMemoryPorts,
  sampleHeader,
} from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import { Engine } from "@branchlog/core/engine";
import { sessionOver } from "../../support/engine-session.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say } from "../live/support.ts";
import { damagedSession } from "../../tools/repair/damaged-session.ts";
import { always, factsOf, openedFacts } from "./session-facts.ts";

const append = (session: Session, n: number): Promise<unknown> =>
  session.append(n % 3 === 0 ? { type: "session_info", name: `${n}` } : say(`${n}`), {
    id: `own${n}`,
  });

it("a session reads, appends and reports the same with a checkpoint (Verifies: P15, P21)", async () => {
  await fc.assert(
    fc.asyncProperty(damagedSession, fc.nat(100), fc.nat(3), async (damage, cut, more) => {
      const paths = ["a", "b"].map((name) => join(temporaryDirectory(), `${name}.jsonl`));
      const { bytes } = damage;
      const end = bytes.indexOf(10, (bytes.length * cut) / 100) + 1;
      const facts: unknown[] = [];
      for (const [at, path] of paths.entries()) {
        const ports = { clock: new ManualClock(0) };
        const options: OpenOptions = { ports, ...(at === 0 ? always : { checkpoint: "off" }) };
        writeFileSync(path, bytes.subarray(0, end));
        const first = await openSession(path, options).catch(() => undefined);
        await first?.close();
        appendFileSync(path, bytes.subarray(end));
        const second = await openSession(path, options).catch(() => undefined);
        if (second === undefined) continue;
        for (let n = 0; n < more; n += 1) await append(second, n).catch(() => undefined);
        facts.push(await factsOf(second), (await verifySession(second)).badLineCounts);
        await second.close();
        facts.push(await openedFacts(path, options));
      }
      const half = facts.length / 2;
      expect(facts.slice(0, half)).toEqual(facts.slice(half));
    }),
    { numRuns: 150 },
  );
});

function newEngine(): { readonly fs: MemoryFileSystem; readonly engine: Engine } {
  const fs = new MemoryFileSystem();
  const ports = createMemoryPorts({ fs });
  return { fs, engine: Engine.createSync("/s.jsonl", sampleHeader(), { ports, ...always }) };
}

describe("saving in turns", () => {
  it("is completed by a close at any point (Verifies: P13)", async () => {
    const { fs, engine } = newEngine();
    const savings = [engine.checkpoints.save(), engine.checkpoints.save()];
    await engine.checkpoints.close();
    await Promise.all(savings);
    expect([...fs.listSync("/")].sort()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
    const { ok, checksums } = await verifySession(sessionOver(engine));
    expect([ok, checksums.state]).toEqual([true, "compared"]);
  });

  it.each(["openSync", "writeSync", "renameSync"])("leaves nothing when %s fails", async (name) => {
    const { fs, engine } = newEngine();
    fs.onCall = (call) => {
      if (call.name === name && call.path?.includes(".ckpt") !== false) throw new Error("ENOSPC");
      return undefined;
    };
    await engine.checkpoints.save();
    engine.checkpoints.saveSync();
    fs.onCall = undefined;
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
  });
});
