/**
 * Requests to a session while its checkpoint is saved, which pauses between the pieces: every
 * answer is right at every pause, and whatever changes the log ends the attempt.
 */
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { appendSync } from "../../support/engine-appends.ts";
import { fixtureBytes } from "../../support/fixture.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { isTakenUp } from "./session-facts.ts";

const path = "/s.jsonl";
/** Long enough that its checksums are not taken in one turn. */
const long =
  `{"type":"custom","id":"long","parentId":null,"timestamp":"","customType":"x",` +
  `"data":"${"t".repeat(2_500_000)}"}\n`;
const log = Buffer.concat([fixtureBytes("pi-branches"), Buffer.from(long)]);

interface World {
  readonly fs: MemoryFileSystem;
  readonly ports: Ports;
  readonly engine: Engine;
}

function newWorld(): World {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, log);
  const ports = createMemoryPorts({ fs, ...reproducible() });
  return { fs, ports, engine: Engine.openSync(path, { ports, checkpointEveryBytes: 1 }) };
}

/** What an engine answers, the bodies read as a session reads them. */
async function answers(engine: Engine): Promise<unknown> {
  const { index, bodies } = engine;
  const rows = Array.from({ length: index.count }, (_, row) => row);
  const entries: SessionEntry[] = [];
  for await (const { entry } of bodies.entries(rows)) entries.push(entry);
  const contexts = rows.map((row) => engine.context(index.idOf(row)).messages);
  return { entries, contexts, tail: engine.tailId, diagnostics: engine.diagnostics };
}

/** What one that was just opened answers. */
function answersAnew({ ports }: World): Promise<unknown> {
  return answers(Engine.openSync(path, { ports, checkpoint: "off" }));
}

const beside = (fs: MemoryFileSystem): string[] =>
  fs.listSync("/").filter((name) => name !== "s.jsonl");

type Pause = "before the file is made" | "while it is written" | "when it is done";

/** Saves, and does something at the n-th pause. Says at what time that was. */
async function saveWith(world: World, n: number, act: () => Promise<void>): Promise<Pause> {
  const { fs, engine } = world;
  const saving = engine.checkpoints.save();
  for (let turn = 0; turn < n; turn += 1) await new Promise(setImmediate);
  const [left] = beside(fs);
  const isWritten = left?.endsWith(".tmp") === true;
  const pause = isWritten ? "while it is written" : "before the file is made";
  await act();
  await saving;
  return left === "s.jsonl.ckpt" ? "when it is done" : pause;
}

/** Saves in new worlds with something at every pause. Says at what times that was. */
async function atEveryPause(check: (world: World, n: number) => Promise<Pause>): Promise<void> {
  const pauses = new Set<Pause>();
  for (let n = 0; !pauses.has("when it is done"); n += 1) {
    pauses.add(await check(newWorld(), n));
  }
  expect([...pauses]).toEqual([
    "before the file is made",
    "while it is written",
    "when it is done",
  ]);
}

describe("while a checkpoint is saved", () => {
  it("reads are correct, and do not prevent the save (Verifies: P21)", async () => {
    const wanted = await answersAnew(newWorld());
    await atEveryPause(async (world, n) => {
      const pause = await saveWith(world, n, async () => {
        expect(await answers(world.engine)).toEqual(wanted);
      });
      expect([n, beside(world.fs), await isTakenUp(path, { ports: world.ports })]).toEqual([
        n,
        ["s.jsonl.ckpt"],
        true,
      ]);
      return pause;
    });
  });

  it("an append proceeds, and no part of the checkpoint remains (Verifies: P21)", async () => {
    await atEveryPause(async (world, n) => {
      const { engine, fs } = world;
      const pause = await saveWith(world, n, async () => {
        appendSync(engine, [{ id: "own", draft: { type: "custom", customType: "x" } }]);
        expect(engine.tailId).toBe("own");
        expect(await answers(engine)).toEqual(await answersAnew(world));
      });
      const isLeft = pause === "when it is done";
      expect([n, beside(fs)]).toEqual([n, isLeft ? ["s.jsonl.ckpt"] : []]);
      await engine.checkpoints.save();
      expect([n, beside(fs), await isTakenUp(path, { ports: world.ports })]).toEqual([
        n,
        ["s.jsonl.ckpt"],
        true,
      ]);
      return pause;
    });
  });
});
