/**
 * Checkpoints of transcripts: what is taken up from one, and read on, is what reading at once
 * gives; and nothing is written next to a file of another agent.
 */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, sep } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import { Engine } from "@branchlog/core/engine";
import { forgeries, forged, rewritten } from "../checkpoint/forged-checkpoint.ts";
import { openedFacts } from "../checkpoint/session-facts.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { claudeSource } from "../../tools/import/arbitrary-claude.ts";
import { codexSource } from "../../tools/import/arbitrary-codex.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { sampleOf } from "../../support/sampled.ts";

const goldenFiles = ["claude", "codex", "transcripts"]
  .flatMap((directory) =>
    readdirSync(fixturePath(directory), { recursive: true, encoding: "utf8" }).map(
      (name) => `${directory}/${name.split(sep).join("/")}`,
    ),
  )
  .filter((name) => /(?<!\.log|titles-only)\.jsonl$/.test(name))
  .toSorted();

interface Kept {
  readonly path: string;
  readonly checkpointDir: string;
  readonly options: OpenOptions;
}

function kept(): Kept {
  const checkpointDir = temporaryDirectory();
  const options = { checkpointDir, checkpointEveryBytes: 1 };
  return { path: join(temporaryDirectory(), "s.jsonl"), checkpointDir, options };
}

/** Opens a log, and leaves its checkpoint behind. Undefined if it is not recognised. */
async function leaveCheckpoint({ path, options }: Kept): Promise<string | undefined> {
  const session = await openSession(path, options).catch(() => undefined);
  await session?.close();
  return session?.transcriptOf;
}

function savedFile({ checkpointDir }: Kept): string {
  const [name, ...others] = readdirSync(checkpointDir);
  expect(others).toEqual([]);
  return join(checkpointDir, name ?? "");
}

/** What a session says of its log, once with and once without the checkpoint. */
async function bothFacts({ path, options }: Kept): Promise<readonly [unknown, unknown]> {
  return [await openedFacts(path, options), await openedFacts(path, { checkpoint: "off" })];
}

/** How many lines an opening parses; it blocks, so that nothing else does meanwhile. */
function parsesOf(path: string, options: OpenOptions): number {
  decodeCounter.parses = 0;
  Engine.openSync(path, { access: "read", ...options }).release();
  return decodeCounter.parses;
}

it.each(goldenFiles)(
  "%s reads the same from a checkpoint of any of its lines (Verifies: P15, P21)",
  async (name) => {
    const bytes = readFileSync(fixturePath(name));
    let count = 0;
    const ends: number[] = [];
    for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) ends.push(end);
    for (const end of sampleOf(ends, 3)) {
      const log = kept();
      writeFileSync(log.path, bytes.subarray(0, end));
      if ((await leaveCheckpoint(log)) === undefined) continue;
      const isSaved = readdirSync(log.checkpointDir).length > 0;
      if (isSaved) expect(parsesOf(log.path, log.options)).toBe(0);
      count += isSaved ? 1 : 0;
      appendFileSync(log.path, bytes.subarray(end));
      const [saved, fresh] = await bothFacts(log);
      expect(saved).toEqual(fresh);
    }
    expect(count).toBeGreaterThan(0);
  },
);

const sources = { "Claude Code": claudeSource, Codex: codexSource };

describe.each(Object.entries(sources))("any transcript of %s", (_name, source) => {
  it("reads the same from a checkpoint of any of its lines (Verifies: P15, P21)", async () => {
    await fc.assert(
      fc.asyncProperty(source, fc.nat(), async ({ lines }, cut) => {
        const whole = lines.map((line) => `${line}\n`);
        const at = 1 + (cut % whole.length);
        const log = kept();
        writeFileSync(log.path, whole.slice(0, at).join(""));
        if ((await leaveCheckpoint(log)) === undefined) return;
        appendFileSync(log.path, whole.slice(at).join(""));
        const [saved, fresh] = await bothFacts(log);
        expect(saved).toEqual(fresh);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(["claude/sidechains.jsonl", "codex/conversation.jsonl"])(
  "the checkpoint of %s",
  (name) => {
    async function savedLog(): Promise<Kept> {
      const log = kept();
      copyFileSync(fixturePath(name), log.path);
      await leaveCheckpoint(log);
      return log;
    }

    it("is used: no covered line is parsed", async () => {
      const log = await savedLog();
      expect(parsesOf(log.path, log.options)).toBe(0);
      expect(parsesOf(log.path, { checkpoint: "off" })).toBeGreaterThan(5);
    });

    it("is in the cache directory of the user, never next to the transcript", async () => {
      const cache = join(temporaryDirectory(), "new");
      vi.stubEnv("BRANCHLOG_CACHE_DIR", cache);
      onTestFinished(() => void vi.unstubAllEnvs());
      const log = { ...kept(), options: { checkpointEveryBytes: 1 } };
      copyFileSync(fixturePath(name), log.path);
      const directory = join(log.path, "..");
      const before = directoryState(directory);
      await (await openSession(log.path, { ...log.options, access: "read" })).close();
      expect(existsSync(cache)).toBe(false);

      await leaveCheckpoint(log);
      expect(directoryState(directory)).toEqual(before);
      expect(readdirSync(directory)).toEqual(["s.jsonl"]);
      const places = [
        "",
        "checkpoints",
        `checkpoints/${readdirSync(join(cache, "checkpoints"))[0]}`,
      ];
      const modes = places.map((place) => statSync(join(cache, place)).mode & 0o777);
      expect(modes).toEqual([0o700, 0o700, 0o600]);
      expect(parsesOf(log.path, log.options)).toBe(0);
      const [saved, fresh] = await bothFacts(log);
      expect(saved).toEqual(fresh);
    });

    it("only costs time when the cache directory cannot be created (Verifies: P21)", async () => {
      const file = join(temporaryDirectory(), "file");
      writeFileSync(file, "");
      vi.stubEnv("BRANCHLOG_CACHE_DIR", join(file, "below"));
      onTestFinished(() => void vi.unstubAllEnvs());
      const log = { ...kept(), options: { checkpointEveryBytes: 1 } };
      copyFileSync(fixturePath(name), log.path);
      expect(await leaveCheckpoint(log)).toBe(name.split("/")[0]);
      const [saved, fresh] = await bothFacts(log);
      expect(saved).toEqual(fresh);
    });

    it("is treated as missing when it holds anything else (Verifies: P21)", async () => {
      const log = await savedLog();
      const path = savedFile(log);
      const bytes = readFileSync(path);
      const facts = await openedFacts(log.path, { checkpoint: "off" });
      const states: unknown[] = [null, 1, [], {}, { header: 1 }, { header: { type: "session" } }];
      for (const state of states) {
        writeFileSync(
          path,
          withState(bytes, () => state),
          { mode: 0o600 },
        );
        expect(await openedFacts(log.path, log.options)).toEqual(facts);
      }
      for (const key of Object.keys(stateOf(bytes))) {
        for (const value of [undefined, {}, "x", -1.5, [[["x"]]]]) {
          writeFileSync(
            path,
            withState(bytes, (state) => ({ ...state, [key]: value })),
          );
          // A value of the right type is of this user: it may change values, never more.
          await openedFacts(log.path, log.options);
        }
      }
    });

    it("can be forged in any way, and opening still ends (Verifies: P21)", async () => {
      const log = await savedLog();
      const path = savedFile(log);
      const bytes = readFileSync(path);
      await fc.assert(
        fc.asyncProperty(forgeries, async (changes) => {
          writeFileSync(path, forged(bytes, changes));
          await openedFacts(log.path, log.options);
        }),
        { numRuns: 100 },
      );
    });
  },
);

/** The state of a transcript is the last column. */
function stateOf(checkpoint: Buffer): Record<string, unknown> {
  let json = "";
  rewritten(
    checkpoint,
    () => undefined,
    (columns) => {
      json = columns.at(-1)?.toString() ?? "";
    },
  );
  return JSON.parse(json) as Record<string, unknown>;
}

/** The checkpoint with another state, cut or padded with spaces to the length of the one before. */
function withState(
  checkpoint: Buffer,
  change: (state: Record<string, unknown>) => unknown,
): Buffer {
  const json = Buffer.from(JSON.stringify(change(stateOf(checkpoint))));
  return rewritten(
    checkpoint,
    () => undefined,
    (columns) => {
      columns.at(-1)?.fill(" ");
      json.copy(columns.at(-1) ?? json);
    },
  );
}
