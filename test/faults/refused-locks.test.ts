/**
 * Locks that cannot be made at all: the directory may not be written to, or something else has the
 * name. Whatever wants to write then fails with an error of ours that names the file, and leaves
 * the file as it is.
 */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { openConnectonion } from "@branchlog/agents/connectonion";
import { SessionManager as OmpSessionManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import { applyRepair, planRepair } from "@branchlog/tools";
import { deleteSession } from "@branchlog/library";
import { fixture } from "../cli/command-run.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { rejection, typedError } from "../support/typed-errors.ts";

/** What needs the lock, what is in the file that it writes to, and the code of its error. */
type Attempt = readonly [
  name: string,
  bytes: Buffer,
  code: string,
  write: (path: string) => unknown,
];

const named = (name: string): Buffer => readFileSync(fixture(name));

const turn = {
  input: "i",
  result: "r",
  model: "m",
  duration_ms: 1,
  tokens: 1,
  cost: 0,
  tools_called: [],
};
const draft = { type: "custom", customType: "x" } as const;

const log = named("pi-linear.jsonl");
const append = async (path: string): Promise<unknown> => (await openSession(path)).append(draft);

const attempts: readonly Attempt[] = [
  ["an append", log, "ERR_APPEND_FAILED", append],
  [
    "a blocking append",
    log,
    "ERR_APPEND_FAILED",
    (path) => SessionManager.open(path).appendCustomEntry("x"),
  ],
  [
    "a new title of omp",
    named("omp-18.jsonl"),
    "ERR_APPEND_FAILED",
    async (path) => (await OmpSessionManager.open(path)).setSessionName("new", "user"),
  ],
  [
    "an empty file that pi opens",
    Buffer.alloc(0),
    "ERR_CREATE_FAILED",
    (path) => SessionManager.open(path),
  ],
  [
    "a turn of a document",
    named("connectonion-ideal.yaml"),
    "ERR_APPEND_FAILED",
    async (path) => (await openConnectonion(path)).appendTurn(turn, []),
  ],
  ["a migration", named("pi-v1.jsonl"), "ERR_MIGRATION", append],
  [
    "a repair",
    Buffer.concat([log, Buffer.from("debris\n")]),
    "ERR_REPAIR_FAILED",
    async (path) => applyRepair(await planRepair(path)),
  ],
  ["a deletion", log, "ERR_DELETE_FAILED", (path) => deleteSession(path)],
];

describe.skipIf(process.platform === "win32")("a lock that cannot be created", () => {
  it.each(attempts)(
    "fails %s with a code, and does not change the file",
    async (_, bytes, code, write) => {
      const path = join(temporaryDirectory(), "s.jsonl");
      writeFileSync(path, bytes);
      // Stale, and not made by any holder: it is neither waited for nor removed.
      writeFileSync(`${path}.branchlog-lock`, "");
      utimesSync(`${path}.branchlog-lock`, 1, 1);

      const error = typedError(await rejection((async () => write(path))()));
      expect(error).toMatchObject({ code, path });
      expect(error.message).toMatch(/ENOTDIR/);
      expect(readFileSync(path)).toEqual(bytes);
    },
  );
});
