/**
 * Locks that cannot be made at all: the directory may not be written to, or something else has the
 * name. Whatever wants to write then fails with an error of ours that names the file, and leaves the
 * file as it is.
 */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { openConnectonion } from "@branchlog/connectonion";
import { SessionManager as OmpSessionManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import { applyRepair, planRepair } from "@branchlog/tools";
import { deleteSession } from "@branchlog/library";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { typedError } from "../support/typed-errors.ts";

interface Attempt {
  /** What wants the lock. */
  readonly name: string;
  /** What is in the file that it writes to. */
  readonly bytes: Buffer;
  readonly code: string;
  readonly write: (path: string) => unknown;
}

function fixture(name: string): Buffer {
  return readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)));
}

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

const attempts: readonly Attempt[] = [
  {
    name: "an append",
    bytes: fixture("pi-linear.jsonl"),
    code: "ERR_APPEND_FAILED",
    write: async (path) => (await openSession(path)).append(draft),
  },
  {
    name: "a blocking append",
    bytes: fixture("pi-linear.jsonl"),
    code: "ERR_APPEND_FAILED",
    write: (path) => SessionManager.open(path).appendCustomEntry("x"),
  },
  {
    name: "a new title of omp",
    bytes: fixture("omp-18.jsonl"),
    code: "ERR_APPEND_FAILED",
    write: async (path) => (await OmpSessionManager.open(path)).setSessionName("new", "user"),
  },
  {
    name: "an empty file that pi opens",
    bytes: Buffer.alloc(0),
    code: "ERR_CREATE_FAILED",
    write: (path) => SessionManager.open(path),
  },
  {
    name: "a turn of a document",
    bytes: fixture("connectonion-ideal.yaml"),
    code: "ERR_APPEND_FAILED",
    write: async (path) => (await openConnectonion(path)).appendTurn(turn, []),
  },
  {
    name: "a migration",
    bytes: fixture("pi-v1.jsonl"),
    code: "ERR_MIGRATION",
    write: async (path) => (await openSession(path)).append(draft),
  },
  {
    name: "a repair",
    bytes: Buffer.concat([fixture("pi-linear.jsonl"), Buffer.from("debris\n")]),
    code: "ERR_REPAIR_FAILED",
    write: async (path) => applyRepair(await planRepair(path)),
  },
  {
    name: "a deletion",
    bytes: fixture("pi-linear.jsonl"),
    code: "ERR_DELETE_FAILED",
    write: (path) => deleteSession(path),
  },
];

describe.skipIf(process.platform === "win32")("a lock that cannot be made", () => {
  it.each(attempts)("fails $name with a code, and the file stays", async (attempt) => {
    const { bytes, code, write } = attempt;
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, bytes);
    // Stale, and not made by any holder: it is neither waited for nor removed.
    writeFileSync(`${path}.branchlog-lock`, "");
    utimesSync(`${path}.branchlog-lock`, 1, 1);

    const error = await Promise.resolve()
      .then(() => write(path))
      .then(() => undefined, typedError);
    expect(error).toMatchObject({ code, path });
    expect(error?.message).toMatch(/ENOTDIR/);
    expect(readFileSync(path)).toEqual(bytes);
  });
});
