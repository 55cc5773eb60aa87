/** Searches of many sessions, by the index and without. */
import { ok } from "node:assert";
import { rmSync } from "node:fs";
import { searchIndexState, searchSessions, updateSearchIndex } from "@branchlog/library";
import { type BenchCase, type CaseInput, defineCase, ours } from "../bench-case.ts";
import { directoryOf } from "../inputs.ts";

const manySessions = directoryOf(2_000, 20);

/** In no text of the generator, and in many of each session. */
const queries = { absent: "zzyzx quuxly", frequent: "parser" } as const;

/** Beside the sessions, so that the next process need not index them again. */
function useOwnIndex({ path }: CaseInput): string {
  const directory = `${path}.cache`;
  process.env["BRANCHLOG_CACHE_DIR"] = directory;
  return directory;
}

const indexUpdate = defineCase<number>({
  name: "search-index",
  question:
    "How long does it take to index 2,000 sessions for searches, and how large is the index?",
  goal: "20 MB/s, with at most 200 MB of memory; at most 35 % of the text.",
  input: manySessions,
  subjects: [
    ours("a new index", (input) => {
      rmSync(useOwnIndex(input), { recursive: true, force: true });
      return async () => {
        await updateSearchIndex({ places: [input.path] });
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

const searchIndexed = defineCase<number>({
  name: "search",
  question: "How long does a search of 2,000 sessions take, with the index and without?",
  goal: "50 ms with the index, where few lines match.",
  input: manySessions,
  subjects: (["auto", "off"] as const).flatMap((index) =>
    (["absent", "frequent"] as const).map((what) =>
      ours(`${what} words, ${index === "auto" ? "by the index" : "reading all"}`, async (input) => {
        useOwnIndex(input);
        const { path } = input;
        if (index === "auto") await updateSearchIndex({ places: [path] });
        return async () => {
          let hits = 0;
          for await (const _hit of searchSessions([path], queries[what], { index })) hits += 1;
          return hits;
        };
      }),
    ),
  ),
  check: (hits) => ok(hits >= 0),
  figures: (hits, _wallMs, _input, peakRssBytes) => ({
    hits,
    "MB of memory": peakRssBytes / 1e6,
  }),
});

export const cases: readonly BenchCase[] = [indexUpdate, searchIndexed];
