/** Processes that do nothing but open a log, and what they leave next to it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fixtureFile } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { expectSame, isTakenUp } from "./session-facts.ts";

const log = fixtureFile("pi-linear");

it.each(["session", "manager"])(
  "a process that only opens a large log as %s leaves a checkpoint behind",
  async (face) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    copyFileSync(log, path);
    const program = new URL("../../support/opening-process.mjs", import.meta.url);
    const child = fork(program, [path, face], { execArgv: [] });
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(existsSync(`${path}.ckpt`)).toBe(true);
    expect(await isTakenUp(path)).toBe(true);
    await expectSame(path);
  },
);
