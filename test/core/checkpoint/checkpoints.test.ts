/**
 * Checkpoints: what is taken up from one is what reading the log gives, whatever became of both.
 */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { fixtureBytes } from "../../support/fixture.ts";
import { sampled, sampleOf } from "../../support/sampled.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixtureNames } from "../projections/fixture-session.ts";
import { say } from "../live/support.ts";
import { footerOf, rewritten } from "./forged-checkpoint.ts";
import { always, expectSame, isTakenUp, leaveCheckpoint, openedFacts } from "./session-facts.ts";

/** A log of some entries with its checkpoint. */
async function smallLog(): Promise<{ readonly path: string; readonly saved: string }> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path, { ...always, cwd: "/w" });
  for (const text of ["one", "two"]) await session.append(say(text));
  await session.append({ type: "label", targetId: session.leaf ?? "", label: "L" });
  await session.append({ type: "session_info", name: "N" });
  await session.close();
  return { path, saved: `${path}.ckpt` };
}

it.each(fixtureNames())(
  "the fixture %s reads the same from a checkpoint of any of its lines (Verifies: P15, P21)",
  async (name) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const bytes = fixtureBytes(name);
    const ends: number[] = [];
    for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) ends.push(end);
    for (const end of sampleOf(ends, 4)) {
      writeFileSync(path, bytes.subarray(0, end));
      await leaveCheckpoint(path).catch(() => undefined);
      appendFileSync(path, bytes.subarray(end));
      await expectSame(path);
    }
  },
);

describe("a checkpoint", () => {
  it("damaged at any byte, or cut there, changes no answer, and is not an alarm (Verifies: P21)", async () => {
    const { path, saved } = await smallLog();
    expect(await isTakenUp(path)).toBe(true);
    const whole = readFileSync(saved);
    const without = await openedFacts(path, { checkpoint: "off" });
    const { pagesEnd } = footerOf(whole);
    const places = [...sampled(0, pagesEnd, 40), ...sampled(pagesEnd, whole.length, 60)];
    for (const [n, at] of places.entries()) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(saved, flipped);
      // Opening reads the footer; a page may be needed later, or never.
      if (at >= pagesEnd) {
        expect(await isTakenUp(path)).toBe(false);
        const report = await verifySession(await openSession(path, { access: "read" }));
        expect(report).toMatchObject({ ok: true, checksums: { state: "none" } });
      }
      expect([at, await openedFacts(path, { checkpoint: "read" })]).toEqual([at, without]);
      if (n % 50 > 0) continue;
      writeFileSync(saved, whole.subarray(0, at));
      expect(await openedFacts(path, { checkpoint: "read" })).toEqual(without);
    }
    writeFileSync(saved, Buffer.concat([whole, Buffer.alloc(80, 255)]));
    expect(await isTakenUp(path)).toBe(false);
  });

  it("of another log, or of an earlier state of this one, is ignored (Verifies: P21)", async () => {
    const { path, saved } = await smallLog();
    const other = await smallLog();
    const own = readFileSync(saved);
    copyFileSync(other.saved, saved);
    expect(await isTakenUp(path)).toBe(false);
    writeFileSync(saved, own);
    expect(await isTakenUp(path)).toBe(true);

    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("one", "eno"));
    await expectSame(path);
    expect(await isTakenUp(path)).toBe(false);
    writeFileSync(path, text);
    expect(await isTakenUp(path)).toBe(true);
    truncateSync(path, text.length - 10);
    await expectSame(path);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    expect(await isTakenUp(path)).toBe(false);
    await expectSame(path);
  });

  it("is not saved for a log that was rewritten, deleted or moved since it was read", async () => {
    const { path, saved } = await smallLog();
    rmSync(saved);
    const text = readFileSync(path, "utf8");
    const stale = await openSession(path, always);
    writeFileSync(path, text.replaceAll("one", "another one"));
    await stale.close();
    await expectSame(path);
    expect(existsSync(saved)).toBe(false);
    const gone = await openSession(path, always);
    rmSync(path);
    await gone.close();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  it("holds nothing known only to the process that saved it", async () => {
    const { path } = await smallLog();
    const session = await openSession(path, always);
    await session.append(say("lost"));
    const text = readFileSync(path, "utf8").split("\n");
    writeFileSync(`${path}.new`, `${text.slice(0, 3).join("\n")}\n`);
    renameSync(`${path}.new`, path);
    await session.refresh();
    expect(session.diagnostics.map(({ kind }) => kind)).toEqual(["lost-entries"]);
    await session.close();
    expect(await isTakenUp(path)).toBe(true);
    await expectSame(path);
  });

  it("is not loaded with another line limit", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, always);
    await session.append({ type: "session_info", name: "N".repeat(10_000) });
    await session.close();
    await leaveCheckpoint(path, { lineBytesMax: 1_000 });
    await expectSame(path);
    expect(await isTakenUp(path, { lineBytesMax: 1_000 })).toBe(true);
    expect(await isTakenUp(path)).toBe(false);
  });

  it("from before a migration is not used after it", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, fixtureBytes("pi-v1"));
    await leaveCheckpoint(path);
    const session = await openSession(path);
    await session.append(say("after"));
    await expectSame(path);
    await leaveCheckpoint(path);
    expect(await isTakenUp(path)).toBe(true);
    await expectSame(path);
  });

  it("is neither saved nor read when disabled (Verifies: P8)", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "s.jsonl");
    writeFileSync(path, fixtureBytes("pi-linear"));
    for (const options of [{ access: "read" }, { checkpoint: "read" }, { checkpoint: "off" }]) {
      await leaveCheckpoint(path, options as OpenOptions);
      expect(readdirSync(directory)).toEqual(["s.jsonl"]);
    }
    await leaveCheckpoint(path);
    expect(readdirSync(directory)).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
    expect(statSync(`${path}.ckpt`).mode & 0o777).toBe(0o600);
    expect(await isTakenUp(path, { checkpoint: "off" })).toBe(false);
    expect(await isTakenUp(path, { checkpoint: "read" })).toBe(true);
  });

  it.runIf(process.platform !== "win32")(
    "is ignored when others can write it, or it is a link (Verifies: P21)",
    async () => {
      const { path, saved } = await smallLog();
      expect(await isTakenUp(path)).toBe(true);
      for (const mode of [0o620, 0o602, 0o666]) {
        chmodSync(saved, mode);
        expect(await isTakenUp(path)).toBe(false);
      }
      chmodSync(saved, 0o644);
      expect(await isTakenUp(path)).toBe(true);
      renameSync(saved, `${saved}.moved`);
      symlinkSync(`${saved}.moved`, saved);
      expect(await isTakenUp(path)).toBe(false);
      expect(
        (await verifySession(await openSession(path, { access: "read" }))).checksums.state,
      ).toBe("none");
    },
  );

  it("can be in a separate directory", async () => {
    const directory = temporaryDirectory();
    const checkpointDir = join(directory, "checkpoints");
    mkdirSync(checkpointDir);
    for (const name of ["a", "b"]) {
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, "s.jsonl"), fixtureBytes("pi-linear"));
      await leaveCheckpoint(join(directory, name, "s.jsonl"), { checkpointDir });
      expect(await isTakenUp(join(directory, name, "s.jsonl"), { checkpointDir })).toBe(true);
    }
    expect(readdirSync(checkpointDir).length).toBe(2);
    expect(readdirSync(join(directory, "a"))).toEqual(["s.jsonl"]);
  });

  it("that cannot be saved has no effect", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, fixtureBytes("pi-linear"));
    await leaveCheckpoint(path, { checkpointDir: join(path, "none") });
    mkdirSync(`${path}.ckpt`);
    await leaveCheckpoint(path);
    await expectSame(path);
    expect(readdirSync(join(path, "..")).sort()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
  });

  it("is saved only after enough growth", async () => {
    const { path, saved } = await smallLog();
    const before = statSync(saved).mtimeMs;
    const session = await openSession(path, { checkpointEveryBytes: 2_000 });
    await session.append(say("short"));
    await session.close();
    expect(statSync(saved).mtimeMs).toBe(before);
    const again = await openSession(path, { checkpointEveryBytes: 2_000 });
    await again.append(say("long".repeat(1_000)));
    await again.close();
    expect(statSync(saved).mtimeMs).toBeGreaterThan(before);
    expect(await isTakenUp(path)).toBe(true);
  });

  it("written by two sessions at once is one of the two", async () => {
    const { path } = await smallLog();
    const sessions = await Promise.all([openSession(path, always), openSession(path, always)]);
    await sessions[0].append(say("more"));
    await sessions[1].refresh();
    await sessions[1].append(say("and more"));
    await Promise.all(sessions.map((session) => session.close()));
    await expectSame(path);
    expect(readdirSync(join(path, "..")).sort()).toEqual(["s.jsonl", "s.jsonl.ckpt"]);
  });
});

describe("a forged checkpoint", () => {
  type Json = Record<string, unknown>;

  /** Whether it is taken up after its text, or its columns, were changed. */
  async function isAccepted(
    change: (text: Json) => void,
    columns: (columns: readonly Buffer[]) => void = () => undefined,
  ): Promise<boolean> {
    const { path, saved } = await smallLog();
    writeFileSync(saved, rewritten(readFileSync(saved), change, columns));
    return isTakenUp(path);
  }

  it.each<[string, string, unknown]>([
    ["rows without end", "state.indexer.counts.rows", 4e9],
    ["no kinds", "state.indexer.kinds", []],
    ["no samples", "binding.samples", []],
    ["too few samples", "binding.samples", [1, 2, 3]],
    ["no bytes of the start", "remembered.start", ""],
    ["no bytes of the end", "remembered.beforeCursor", ""],
    ["another file", "binding.ino", 1],
    ["an end outside", "binding.end", 2 ** 40],
    ["a header outside", "header.offset", 2 ** 40],
    ["a header without end", "header.length", 2 ** 31],
    ["labels that are none", "state.folded.labels", [["x", null]]],
  ])("is ignored when it has %s (Verifies: P18, P21)", async (_, place, value) => {
    expect(await isAccepted(() => undefined)).toBe(true);
    const keys = place.split(".");
    const change = (text: Json): void => {
      let at = text;
      for (const key of keys.slice(0, -1)) at = at[key] as Json;
      at[keys.at(-1) ?? ""] = value;
    };
    expect(await isAccepted(change)).toBe(false);
  });

  const anEntry = { reason: "r", offset: 300, length: 100, line: 3, id: "0000000a" };

  function kindsIn(state: Json): unknown[] {
    return (state["indexer"] as Json)["kinds"] as unknown[];
  }

  function findingsIn(state: Json): { readonly entries: unknown[]; readonly counts: unknown[] } {
    type Findings = ReturnType<typeof findingsIn>;
    return (state["indexer"] as Json)["diagnostics"] as Findings;
  }

  const withFinding =
    (finding: object) =>
    (state: Json): void =>
      void findingsIn(state).entries.push(finding);

  it("is reported by verify when its name, label, parent, kind, finding or entry differs", async () => {
    for (const [what, change] of [
      ["name", (text) => void ((text["folded"] as Json)["names"] = ["forged"])],
      ["labels", (text) => void ((text["folded"] as Json)["labels"] = [])],
      ["kind", (text) => void kindsIn(text).push({ type: "message", role: "forged" })],
      ["findings", withFinding({ kind: "damaged-entry", ...anEntry })],
      ["findings", withFinding({ kind: "malformed-body", ...anEntry })],
      ["findings", withFinding({ kind: "damaged-entry", reason: "of no place" })],
      ["findings", (text) => void findingsIn(text).counts.push(["damaged-entry", 1])],
    ] as readonly [string, (state: Json) => void][]) {
      const { path, saved } = await smallLog();
      const own = await verifySession(await openSession(path, { access: "read" }));
      expect([own.ok, own.checkpointDifferenceCount]).toEqual([true, 0]);
      const forgedText = (text: Json): void => change(text["state"] as Json);
      writeFileSync(saved, rewritten(readFileSync(saved), forgedText));
      const session = await openSession(path, { access: "read" });
      const { ok, checkpointDifferences } = await verifySession(session);
      expect([ok, checkpointDifferences]).toEqual([false, [{ what, entry: null }]]);
    }
    const { path, saved } = await smallLog();
    const parents = (columns: readonly Buffer[]): void => void columns[4]?.writeInt32LE(-2, 8);
    writeFileSync(
      saved,
      rewritten(readFileSync(saved), () => undefined, parents),
    );
    const session = await openSession(path, { access: "read" });
    const { ok, checkpointDifferences } = await verifySession(session);
    expect([ok, checkpointDifferences]).toMatchObject([false, [{ what: "parent" }]]);
    rmSync(saved);
    expect((await verifySession(session)).ok).toBe(true);
  });
});
