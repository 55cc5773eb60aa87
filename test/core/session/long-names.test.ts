/** Logs with the longest names that a file system takes: their sidecars have shorter ones. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { applyRepair, planRepair, verifySession } from "@branchlog/tools";
import { deleteSession } from "@branchlog/library";
import { nodePorts, userDraft } from "@branchlog/core/testing";
import { hashedName } from "@branchlog/core/files";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { sidecarPath } from "../../../packages/core/src/platform/sidecar.ts";

/** A path whose file name has exactly so many bytes. */
function pathOf(bytes: number, character = "n"): string {
  const ending = ".jsonl";
  const width = Buffer.byteLength(character);
  const count = Math.floor((bytes - ending.length) / width);
  const filler = "f".repeat(bytes - ending.length - count * width);
  return join(temporaryDirectory(), `${character.repeat(count)}${filler}${ending}`);
}

describe.each([
  [192, "n"],
  [240, "n"],
  [241, "n"],
  [255, "n"],
  [255, "名"],
] as const)("a log whose name has %d bytes, of the letter %s", (bytes, character) => {
  it("is created, locked, appended to by two sessions, saved, verified and deleted", async () => {
    const path = pathOf(bytes, character);
    const one = await createSession(path);
    const other = await openSession(path, { checkpointEveryBytes: 1 });
    await one.append(userDraft("first"));
    await other.append(userDraft("second"));
    const held = nodePorts.lock.tryAcquireSync(path);
    expect(held).not.toBeNull();
    await expect(
      openSession(path, { lockWaitMs: 1 }).then((s) => s.append(userDraft("no"))),
    ).rejects.toMatchObject({ code: "ERR_LOCK_TIMEOUT", lock: { holder: { isOwnProcess: true } } });
    held?.releaseSync();
    await other.close();
    await one.close();
    expect(readdirSync(dirname(path)).some((name) => name.endsWith(".ckpt"))).toBe(true);
    const read = await openSession(path, { access: "read" });
    expect(read.revision).toBe(2);
    expect(await verifySession(read)).toMatchObject({ ok: true });
    await read.close();
    await deleteSession(path);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("is migrated and repaired, and keeps its originals", async () => {
    const path = pathOf(bytes, character);
    const old = '{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n';
    writeFileSync(
      path,
      `${old}{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}}\n`,
    );
    const session = await openSession(path);
    await session.append(userDraft("migrates"));
    await session.close();
    writeFileSync(path, "this is no JSON\n", { flag: "a" });
    const { salvage, original } = await applyRepair(await planRepair(path));
    expect([salvage, original].every((kept) => typeof kept === "string" && existsSync(kept))).toBe(
      true,
    );
    expect(
      readdirSync(dirname(path)).filter((name) => /-original|before-repair|salvage/.test(name)),
    ).toHaveLength(3);
  });
});

describe("the path of a sidecar", () => {
  const names = fc
    .string({ minLength: 1, maxLength: 255, unit: "grapheme" })
    .map((name) => name.replaceAll(/[/\0]/g, "_"));

  it("is that of the log with the suffix, or a hash when the name is too long", () => {
    fc.assert(
      fc.property(names, (name) => {
        fc.pre(Buffer.byteLength(name) <= 255 && name !== "." && name !== "..");
        const path = `/d/${name}`;
        const sidecar = sidecarPath(path, ".branchlog-lock");
        const long = Buffer.byteLength(name) > 255 - ".branchlog-lock".length;
        expect(sidecar).toBe(`${long ? `/d/${hashedName(name)}` : path}.branchlog-lock`);
        expect(Buffer.byteLength(sidecar.slice("/d/".length))).toBeLessThanOrEqual(255);
        expect(hashedName(name)).toMatch(/^\.branchlog-[0-9a-f]{32}$/);
      }),
    );
  });
});
