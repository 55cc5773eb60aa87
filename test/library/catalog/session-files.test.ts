/** The files of directories: which names count, and each file once. */
import { linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import {
  sessionFilesBelow,
  sessionFilesIn,
} from "../../../packages/library/src/catalog/session-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function touch(...parts: string[]): string {
  const path = join(...parts);
  writeFileSync(path, "");
  return path;
}

async function pathsBelow(root: string): Promise<string[]> {
  return (await sessionFilesBelow(root)).map(({ path }) => relative(root, path)).toSorted();
}

describe("the session files of a directory", () => {
  it("are those named *.jsonl, with the time of their last change", async () => {
    const directory = temporaryDirectory();
    for (const name of ["a.jsonl", "b.txt", "c.json", "d.jsonl.ckpt", "e.jsonl.v1-original"]) {
      utimesSync(touch(directory, name), 1, 1.5);
    }
    expect(await sessionFilesIn(directory)).toEqual([
      expect.objectContaining({
        path: join(directory, "a.jsonl"),
        name: "a.jsonl",
        mtimeMs: 1500,
        isReadable: true,
        size: 0,
      }),
    ]);
  });

  it("exclude those of its subdirectories", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "sub"));
    touch(directory, "sub", "a.jsonl");
    expect(await sessionFilesIn(directory)).toEqual([]);
  });

  it("include a link to a file elsewhere", async () => {
    const directory = temporaryDirectory();
    symlinkSync(touch(temporaryDirectory(), "real.jsonl"), join(directory, "link.jsonl"));
    const [file, ...others] = await sessionFilesIn(directory);
    expect(file).toMatchObject({ path: join(directory, "link.jsonl"), isReadable: true });
    expect(others).toEqual([]);
  });

  it("have each file once: under a name that is not a link, otherwise under the first", async () => {
    const directory = temporaryDirectory();
    touch(directory, "m.jsonl");
    symlinkSync("m.jsonl", join(directory, "a.jsonl"));
    linkSync(join(directory, "m.jsonl"), join(directory, "z.jsonl"));
    const elsewhere = touch(temporaryDirectory(), "real.jsonl");
    symlinkSync(elsewhere, join(directory, "y.jsonl"));
    symlinkSync(elsewhere, join(directory, "x.jsonl"));
    const names = (await sessionFilesIn(directory)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["m.jsonl", "x.jsonl"]);
  });

  it("include unreadable files, marked as such", async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "directory.jsonl"));
    symlinkSync("nowhere", join(directory, "dangling.jsonl"));
    symlinkSync("loop.jsonl", join(directory, "loop.jsonl"));
    const files = await sessionFilesIn(directory);
    expect(files.map(({ name }) => name).toSorted()).toEqual([
      "dangling.jsonl",
      "directory.jsonl",
      "loop.jsonl",
    ]);
    expect(files.some(({ isReadable }) => isReadable)).toBe(false);
  });

  it("are an error for a missing directory, or after an abort", async () => {
    await expect(sessionFilesIn(join(temporaryDirectory(), "gone"))).rejects.toThrow("ENOENT");
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(sessionFilesIn(temporaryDirectory(), signal)).rejects.toThrow("enough");
  });
});

describe("the session files below a root", () => {
  it("are those of its subdirectories, including linked directories", async () => {
    const root = temporaryDirectory();
    const elsewhere = temporaryDirectory();
    mkdirSync(join(root, "p"));
    touch(root, "p", "a.jsonl");
    touch(root, "not-in-a-sub-directory.jsonl");
    touch(elsewhere, "b.jsonl");
    symlinkSync(elsewhere, join(root, "q"));
    expect(await pathsBelow(root)).toEqual(["p/a.jsonl", "q/b.jsonl"]);
  });

  it("have each file once, also with cycles of links", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, "m"));
    touch(root, "m", "a.jsonl");
    symlinkSync("m", join(root, "a"));
    symlinkSync(root, join(root, "m", "up.jsonl"));
    symlinkSync(root, join(root, "self"));
    symlinkSync("self-loop", join(root, "self-loop"));
    mkdirSync(join(root, "n"));
    symlinkSync("../m/a.jsonl", join(root, "n", "b.jsonl"));
    expect(await pathsBelow(root)).toEqual(["m/a.jsonl", "m/up.jsonl"]);
  });

  it("omit an unreadable subdirectory", async () => {
    const root = temporaryDirectory();
    const gone = temporaryDirectory();
    symlinkSync(gone, join(root, "gone"));
    rmSync(gone, { recursive: true });
    symlinkSync(touch(temporaryDirectory(), "file"), join(root, "file"));
    mkdirSync(join(root, "p"));
    touch(root, "p", "a.jsonl");
    expect(await pathsBelow(root)).toEqual(["p/a.jsonl"]);
  });
});
