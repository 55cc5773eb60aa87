/** Searches of many sessions, by the index and without. */
import { ok } from "node:assert";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { execPath } from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isBranchlogError } from "@branchlog/core";
// An index is for the agents that are registered, as the command registers them.
import "@branchlog/agents";
import { searchIndexState, searchSessions, updateSearchIndex } from "@branchlog/library";
import {
  type BenchCase,
  type CaseInput,
  type Subject,
  baseline,
  defineCase,
  ours,
} from "../bench-case.ts";
import { directoryOf } from "../inputs.ts";

/** In no text of the generator, and in many of each session. */
const queries = { absent: "zzyzx quuxly", frequent: "parser" } as const;
type Query = keyof typeof queries;

/** Next to the sessions, so that the next process need not index them again. */
function useOwnIndex({ path }: CaseInput): void {
  process.env["BRANCHLOG_CACHE_DIR"] = `${path}.cache`;
}

/** Another process of the case may be at it. */
async function indexed({ path }: CaseInput): Promise<void> {
  for (;;) {
    try {
      await updateSearchIndex({ places: [path] });
      return;
    } catch (error) {
      if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw error;
      await setTimeout(100);
    }
  }
}

function inProcess(what: Query, index: "auto" | "off"): Subject<number> {
  const way = index === "auto" ? "by the index" : "reading all";
  return ours(`${what} words, ${way}`, async (input) => {
    useOwnIndex(input);
    const { path } = input;
    if (index === "auto") await indexed(input);
    return async () => {
      let hits = 0;
      for await (const _hit of searchSessions([path], queries[what], { index })) hits += 1;
      return hits;
    };
  });
}

const command = fileURLToPath(new URL("../../../branchlog/bin/branchlog.mjs", import.meta.url));

/** With the start of its process. */
const byCommand = ours("absent words, by the command", async (input) => {
  useOwnIndex(input);
  await indexed(input);
  return () => {
    spawnSync(execPath, [command, "search", queries.absent, input.path]);
    return 0;
  };
});

const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;

const byRipgrep = baseline<number>("absent words, rg -i", ({ path }) => () => {
  spawnSync("rg", ["-i", "--count", queries.absent, path]);
  return 0;
});

function casesOf(name: string, files: number, more: { readonly needs?: "huge" } = {}): BenchCase[] {
  const input = directoryOf(files, 20);
  const size = `${files.toLocaleString("en")} sessions`;
  const update = defineCase<number>({
    ...more,
    name: `${name}-index`,
    question: `How long does it take to index ${size} for searches, and how large is the index?`,
    goal: "20 MB/s, with at most 200 MB of memory; at most 35 % of the text.",
    input,
    subjects: [
      ours("a new index", (given) => {
        useOwnIndex(given);
        rmSync(process.env["BRANCHLOG_CACHE_DIR"] ?? "", { recursive: true, force: true });
        return async () => {
          await updateSearchIndex({ places: [given.path] });
          return (await searchIndexState()).index?.sizeBytes ?? 0;
        };
      }),
    ],
    check: (sizeBytes) => ok(sizeBytes > 0),
    figures: (sizeBytes, wallMs, { facts }, peakRssBytes) => ({
      "MB/s": facts.bytes / 1000 / wallMs,
      "% of the bytes": (100 * sizeBytes) / facts.bytes,
      "MB of memory": peakRssBytes / 1e6,
    }),
  });
  const search = defineCase<number>({
    ...more,
    name,
    question: `How long does a search of ${size} take, with the index and without?`,
    goal: "50 ms with the index, 150 ms by the command, where few lines match.",
    input,
    subjects: [
      inProcess("absent", "auto"),
      inProcess("absent", "off"),
      inProcess("frequent", "auto"),
      inProcess("frequent", "off"),
      byCommand,
      ...(hasRipgrep ? [byRipgrep] : []),
    ],
    check: (hits) => ok(hits >= 0),
    figures: (hits) => ({ hits }),
  });
  return [update, search];
}

export const cases: readonly BenchCase[] = [
  ...casesOf("search", 2_000),
  ...casesOf("search-10gb", 20_000, { needs: "huge" }),
];
