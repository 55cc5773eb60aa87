/** What `verify` finds with the checksums of a checkpoint, and what it does not take for damage. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCounter } from "@branchlog/streaming";
import { createSession, openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import type { VerifyReport } from "@branchlog/tools";
import { fixtureBytes } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say } from "../live/support.ts";
import { damagedSession } from "../../tools/repair/damaged-session.ts";
import { rewritten } from "./forged-checkpoint.ts";
import { always, leaveCheckpoint } from "./session-facts.ts";

const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}';

const entry = (id: string, text: string): string =>
  `{"type":"custom","id":"${id}","parentId":null,"timestamp":"","customType":"x","data":"${text}"}`;

async function verified(path: string, options: OpenOptions = {}): Promise<VerifyReport> {
  return verifySession(await openSession(path, { access: "read", ...options }));
}

async function seenLog(bytes: string | Uint8Array): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, bytes);
  await leaveCheckpoint(path).catch(() => undefined);
  return path;
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** Two lines less one letter each, so that what follows is where it was. */
function permuted(text: string): string {
  const lines = text.split("\n");
  const [first = "", second = ""] = lines.splice(1, 2);
  const [third = "", fourth = ""] = lines.splice(1, 2);
  return [lines[0], third, fourth, first, second, ...lines.slice(1)].join("\n");
}

function replace(path: string, from: string, to: string): void {
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
}

const five = ["one", "two", "three", "four", "five"].map((text, at) => entry(`0000000${at}`, text));
const logOfFive = [header, ...five].join("\n").concat("\n");

describe("a line that changed after a checkpoint", () => {
  it("is found with its position, even if it parses (Verifies: P13)", async () => {
    const path = await seenLog(logOfFive);
    expect(await verified(path)).toMatchObject({
      ok: true,
      checksums: { state: "compared", entries: 5, unseenEntries: 0 },
    });
    replace(path, "three", "thsee");
    const offset = logOfFive.indexOf(five[2] ?? "");
    const changed = { id: "00000002", line: 4, offset, length: five[2]?.length };
    const wanted = { ok: false, badLineCount: 0, changedLineCount: 1, changedLines: [changed] };
    expect(await verified(path)).toMatchObject(wanted);
    // The newline at the end of the log.
    writeFileSync(path, flipped(Buffer.from(logOfFive), logOfFive.length * 8 - 1));
    const offsetOfLast = logOfFive.indexOf(five[4] ?? "");
    const last = { line: 6, offset: offsetOfLast, length: logOfFive.length - offsetOfLast };
    expect((await verified(path)).changedLines).toMatchObject([last]);
  });

  it("is found again after any later save (Verifies: P13)", async () => {
    const path = await seenLog(logOfFive);
    replace(path, "three", "thsee");
    for (let round = 0; round < 3; round += 1) {
      const session = await openSession(path, always);
      await session.append(say(`round ${round}`));
      await session.close();
      const checksums = { state: "compared", entries: 6 + round, unseenEntries: 0 };
      expect(await verified(path)).toMatchObject({ ok: false, changedLineCount: 1, checksums });
    }
  });

  it("is found in any log, and no other line is (Verifies: P13)", async () => {
    await fc.assert(
      fc.asyncProperty(damagedSession, fc.nat(), fc.nat(100), async ({ bytes }, at, cut) => {
        const end = bytes.lastIndexOf(10, (bytes.length * cut) / 100) + 1;
        const path = await seenLog(bytes.subarray(0, end));
        if (!existsSync(`${path}.ckpt`)) return;
        appendFileSync(path, bytes.subarray(end));
        const before = await verified(path);
        expect(before).toMatchObject({ changedLineCount: 0, checksums: { state: "compared" } });
        const start = before.checksums.entries === 0 ? 0 : bytes.indexOf(10) + 1;
        const bit = start * 8 + (at % Math.max(1, (bytes.length - start) * 8));
        writeFileSync(path, flipped(bytes, bit));
        const report = await verified(path).catch(() => undefined);
        if (report === undefined) return;
        const isCovered = bit >> 3 < end && bit >> 3 >= bytes.indexOf(`{"type":"session"`);
        expect([bit, report.changedLineCount]).toEqual([bit, isCovered ? 1 : 0]);
        const [changed] = report.changedLines;
        if (changed === undefined) return;
        expect(changed.offset).toBeLessThanOrEqual(bit >> 3);
        expect(changed.offset + changed.length).toBeGreaterThanOrEqual(bit >> 3);
        const linesBefore = bytes.subarray(0, changed.offset).toString("latin1").split("\n");
        expect(changed.line).toBe(linesBefore.length);
      }),
      { numRuns: 150 },
    );
  });
});

describe("a log without a changed line", () => {
  it("has none after later appends (Verifies: P13)", async () => {
    const path = await seenLog(logOfFive);
    appendFileSync(path, `${entry("00000009", "later")}\n`);
    replace(path, "later", "latex");
    const checksums = { state: "compared", entries: 5, unseenEntries: 1 };
    expect(await verified(path)).toMatchObject({ ok: true, changedLineCount: 0, checksums });
    await leaveCheckpoint(path);
    replace(path, "latex", "later");
    expect(await verified(path)).toMatchObject({ changedLineCount: 1 });
  });

  it.each([
    ["the last one is gone", (text: string) => text.slice(0, text.lastIndexOf("{"))],
    ["all are gone", (text: string) => text.slice(0, text.indexOf("\n") + 1)],
    ["every entry has another letter", (text: string) => text.replaceAll('"x"', '"y"')],
    ["lines lie in another order, before others that are right", permuted],
  ])("is found when %s, and again later (Verifies: P13)", async (_, change) => {
    const path = await seenLog(logOfFive);
    writeFileSync(path, change(logOfFive));
    const piece = { offset: 0, length: logOfFive.length, line: 1, id: null };
    const found = { ok: false, changedLineCount: 1, checksums: { state: "compared" } };
    expect(await verified(path)).toMatchObject({ ...found, changedLines: [piece] });
    await leaveCheckpoint(path).catch(() => undefined);
    expect(await verified(path)).toMatchObject(found);
  });

  it("is found in the header of an older version, and after it (Verifies: P13)", async () => {
    for (const version of [1, 2]) {
      const old = logOfFive.replace('"version":3', `"version":${version}`);
      const path = await seenLog(old);
      writeFileSync(path, old.replace('"cwd":"/"', '"cwd":"x"').replace("three", "thsee"));
      expect(await verified(path)).toMatchObject({ ok: false, changedLineCount: 1 });
      await leaveCheckpoint(path).catch(() => undefined);
      expect(await verified(path)).toMatchObject({ ok: false, changedLineCount: 1 });
    }
  });

  it("has the position of 64 KiB if more than one bit changed there", async () => {
    const lines = Array.from({ length: 4_000 }, (_, n) => entry(`${n}`.padStart(8, "0"), "text"));
    const text = [header, ...lines].join("\n").concat("\n");
    const path = await seenLog(text);
    replace(
      path,
      '"id":"00002000","parentId":null,"timestamp":"","customType":"x","data":"text"',
      '"id":"00002000","parentId":null,"timestamp":"","customType":"x","data":"TEXT"',
    );
    const [changed] = (await verified(path)).changedLines;
    const at = text.indexOf('"00002000"');
    const offset = at - (at % 65_536);
    const line = text.slice(0, offset).split("\n").length;
    expect(changed).toEqual({ offset, length: 65_536, line, id: null });
  });

  it("has none without a checkpoint, or when disabled", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, logOfFive);
    const none = { state: "none", entries: 0, unseenEntries: 5 };
    expect(await verified(path)).toMatchObject({ ok: true, checksums: none });
    await leaveCheckpoint(path);
    replace(path, "three", "thsee");
    expect(await verified(path, { checkpoint: "off" })).toMatchObject({
      ok: true,
      checksums: none,
    });
    expect(await verified(path)).toMatchObject({ ok: false });
  });

  it("has none in another file of its name", async () => {
    const path = await seenLog(logOfFive);
    copyFileSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    replace(path, "three", "thsee");
    const checksums = { state: "none", entries: 0, unseenEntries: 5 };
    expect(await verified(path)).toMatchObject({ ok: true, checksums });
  });

  it.each([
    ["with a line less", (text: string) => text.replace(`${five[0]}\n`, "").concat(text)],
    ["with longer lines", (text: string) => text.replaceAll('"x"', '"longer"')],
  ])("has none if it was rewritten, %s", async (_, change) => {
    const path = await seenLog(logOfFive);
    const { ino } = statSync(path);
    writeFileSync(path, change(logOfFive));
    expect(statSync(path).ino).toBe(ino);
    const { checksums, changedLineCount } = await verified(path);
    expect([checksums.state, changedLineCount]).toEqual(["rewritten", 0]);
    await leaveCheckpoint(path);
    expect((await verified(path)).checksums.state).toBe("compared");
  });

  it("has none after a migration, here or in place by another program", async () => {
    const path = await seenLog(fixtureBytes("pi-v1"));
    const session = await openSession(path, always);
    await session.append(say("after"));
    expect((await verifySession(session)).changedLineCount).toBe(0);
    await session.close();
    const migrated = await verified(path);
    expect(migrated).toMatchObject({ changedLineCount: 0, checksums: { state: "compared" } });

    const old = await seenLog(logOfFive.replace('"version":3', '"version":2'));
    replace(old, '"version":2', '"version":3');
    const { checksums, changedLineCount } = await verified(old);
    expect([checksums.state, changedLineCount]).toEqual(["rewritten", 0]);
  });

  it("has none when a title before the header is rewritten in place", async () => {
    const title = (text: string): string => `{"type":"title","title":"${text}"}\n`;
    const path = await seenLog(`${title("old")}${logOfFive}`);
    replace(path, title("old"), title("new"));
    const checksums = { state: "compared", entries: 5, unseenEntries: 0 };
    expect(await verified(path)).toMatchObject({ ok: true, checksums });
  });
});

it("checksums of a checkpoint stay valid when its index has another version (Verifies: P13)", async () => {
  const path = await seenLog(logOfFive);
  replace(path, "three", "thsee");
  const later = rewritten(readFileSync(`${path}.ckpt`), (text) => {
    text["version"] = Number(text["version"]) + 1;
  });
  writeFileSync(`${path}.ckpt`, later);
  expect(await verified(path)).toMatchObject({ changedLineCount: 1 });
  await leaveCheckpoint(path);
  expect(await verified(path)).toMatchObject({ changedLineCount: 1 });
});

it("taking checksums reads only what is new", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path, always);
  await session.appendAll(Array.from({ length: 20_000 }, (_, n) => say(`text ${n}`)));
  await session.close();
  const again = await openSession(path, always);
  await again.append(say("more"));
  readCounter.bytes = 0;
  await again.close();
  expect(readCounter.bytes).toBeLessThan(400_000);
  const checksums = { state: "compared", entries: 20_001, unseenEntries: 0 };
  expect(await verified(path)).toMatchObject({ ok: true, checksums });
});
