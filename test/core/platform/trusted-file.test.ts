/** Which files next to a log count, by their facts and on a real disk. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeFileSystem } from "../../../packages/core/src/platform/node-file-system.ts";
import { pooledSource } from "../../../packages/core/src/platform/descriptor-pool.ts";
import { isTrustedSidecar, openTrustedSync } from "../../../packages/core/src/platform/sidecar.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { failingFileSystem } from "./failing-file-system.ts";

describe("a sidecar", () => {
  it("is used when it is any regular file on a system without users", () => {
    expect(isTrustedSidecar({ isFile: true, mode: 0o100666, uid: 0 }, undefined)).toBe(true);
    expect(isTrustedSidecar({ isFile: false, mode: 0o040700, uid: 0 }, undefined)).toBe(false);
  });

  it("is never used when anyone but this user and root can write it", () => {
    fc.assert(
      fc.property(fc.nat(0o7777), fc.nat(3), fc.nat(3), (mode, uid, userId) => {
        const isOthers = uid !== userId && uid !== 0;
        const isWritable = (mode & 0o022) !== 0;
        const isTrusted = isTrustedSidecar({ isFile: true, mode, uid }, userId);
        expect(isTrusted).toBe(!isOthers && !isWritable);
      }),
    );
  });
});

it("a trusted sidecar is read in parts, blocking and asynchronous", async () => {
  const path = join(temporaryDirectory(), "s.jsonl.ckpt");
  writeFileSync(path, "0123456789");
  const sidecar = openTrustedSync(nodeFileSystem, path);
  if (sidecar === undefined) throw new Error("this user's own file counts");
  nodeFileSystem.closeSync(sidecar.fd);
  const source = pooledSource(nodeFileSystem, path, sidecar.stat);
  const part = Buffer.from("....");
  expect(source.readSync(part, 1, 2, 3)).toBe(2);
  expect(part.toString()).toBe(".34.");
  expect(await source.read(part, 0, 4, 8)).toBe(2);
  expect(part.toString()).toBe("894.");
});

it("a sidecar that cannot be read once it is open is closed, and the error is passed on", () => {
  // The calls are: a stat, the opening, a stat of what was opened.
  const { fs, failed } = failingFileSystem((call) => call === 3);
  fs.writeFileSync("/sidecar", Buffer.from("text"));
  expect(() => openTrustedSync(fs, "/sidecar")).toThrow("EIO");
  expect([failed, fs.openCount]).toEqual([["fstatSync"], 0]);
});

describe.runIf(process.platform !== "win32")("opening a sidecar", () => {
  const isOpened = (path: string): boolean => {
    const opened = openTrustedSync(nodeFileSystem, path);
    if (opened !== undefined) nodeFileSystem.closeSync(opened.fd);
    return opened !== undefined;
  };

  it("returns a file of this user, but not one that its group or others can write", () => {
    const path = join(temporaryDirectory(), "sidecar");
    expect(isOpened(path)).toBe(false);
    writeFileSync(path, "text");
    for (const [mode, isTrusted] of [
      [0o600, true],
      [0o644, true],
      [0o660, false],
      [0o606, false],
    ] as const) {
      chmodSync(path, mode);
      expect(isOpened(path)).toBe(isTrusted);
    }
  });

  it("does not follow a symbolic link, or wait for a pipe", () => {
    const directory = temporaryDirectory();
    const [file, link, pipe] = ["file", "link", "pipe"].map((name) => join(directory, name));
    writeFileSync(file ?? "", "text", { mode: 0o600 });
    symlinkSync(file ?? "", link ?? "");
    execFileSync("/usr/bin/env", ["mkfifo", "-m", "600", pipe ?? ""]);
    mkdirSync(join(directory, "directory"), { mode: 0o700 });
    expect(() => isOpened(link ?? "")).toThrow("ELOOP");
    expect(isOpened(pipe ?? "")).toBe(false);
    expect(isOpened(join(directory, "directory"))).toBe(false);
    // Also if it became one after its stat.
    const fd = nodeFileSystem.openSync(pipe ?? "", "nofollow");
    expect(nodeFileSystem.fstatSync(fd).isFile).toBe(false);
    nodeFileSystem.closeSync(fd);
  });
});
