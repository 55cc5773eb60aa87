/** Many generated sessions in one directory, as an agent leaves them behind. */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pid } from "node:process";
import type { GeneratorOptions } from "./options.ts";
import type { SessionFacts } from "./session-facts.ts";
import { writeSessionFile } from "./session-file.ts";

/** What is true of all sessions of a directory together. */
export interface DirectoryFacts {
  readonly files: number;
  readonly bytes: number;
  readonly entries: number;
  readonly entriesByType: Readonly<Record<string, number>>;
}

/**
 * Generates so many sessions into a new directory, which appears under its name only when it is
 * whole: the first with the seed of the options, each other one with the next. Throws what the file
 * system throws, and leaves nothing behind then.
 */
export function writeSessionDirectory(
  path: string,
  files: number,
  options: GeneratorOptions = {},
): DirectoryFacts {
  const target = resolve(path);
  const temporary = `${target}.${pid}.tmp`;
  mkdirSync(temporary, { recursive: true });
  try {
    const all: SessionFacts[] = [];
    for (let i = 0; i < files; i++) {
      const file = join(temporary, `${String(i).padStart(6, "0")}.jsonl`);
      all.push(writeSessionFile(file, { ...options, seed: (options.seed ?? 1) + i }));
    }
    renameSync(temporary, target);
    return sumOf(all);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    throw error;
  }
}

function sumOf(all: readonly SessionFacts[]): DirectoryFacts {
  const entriesByType: Record<string, number> = {};
  let bytes = 0;
  let entries = 0;
  for (const facts of all) {
    bytes += facts.bytes;
    entries += facts.entries;
    for (const [type, count] of Object.entries(facts.entriesByType)) {
      entriesByType[type] = (entriesByType[type] ?? 0) + count;
    }
  }
  return { files: all.length, bytes, entries, entriesByType };
}
