/**
 * Sessions of Claude Code and Codex where they are, next to the same conversations in pi's form.
 */
import { deepStrictEqual, ok } from "node:assert";
import { findSessions, searchSessions } from "@branchlog/library";
import {
  type BenchCase,
  defineCase,
  ours,
  type Prepare,
  type ScaledInput,
  type Subject,
} from "../bench-case.ts";
import { type Form, forms } from "../generator/options.ts";
import { directoryOf, largeSession, ownDirectory } from "../inputs.ts";
import { openCold } from "../our-session.ts";

const formNames: Readonly<Record<Form, string>> = {
  pi: "pi's form",
  claude: "Claude Code's form",
  codex: "Codex's form",
};

function inEachForm<Result>(input: ScaledInput, prepare: Prepare<Result>): Subject<Result>[] {
  return forms.map((form) =>
    ours(formNames[form], prepare, { input: (scale) => ({ ...input(scale), form }) }),
  );
}

const manySessions = directoryOf(2_000, 20);

const openTranscript = defineCase<number>({
  name: "transcript-open",
  question: "How long does it take to open a conversation of 1 GB in the form of each agent?",
  goal: "3 times as long per byte as in pi's form, with at most 200 MB of memory.",
  comparedBy: "ns/byte",
  subjects: inEachForm(
    largeSession,
    ({ path }) =>
      async () =>
        (await openCold(path)).revision,
  ),
  // A record of Claude Code is a block, so there are more; Codex writes no labels and names.
  check: (entries, { facts }) => ok(entries >= (facts.entriesByType["message"] ?? 0)),
  figures: (entries, wallMs, { facts }, peakRssBytes) => ({
    "ns/byte": (wallMs * 1e6) / facts.bytes,
    "MB of memory": peakRssBytes / 1e6,
    entries,
  }),
});

const listTranscripts = defineCase<number>({
  name: "transcript-list",
  question: "How long does it take to list 2,000 sessions in the form of each agent, unsaved?",
  goal: "of the latest sessions, only their files are read.",
  comparedBy: "ms each",
  subjects: [
    ...inEachForm(manySessions, (input) => {
      const path = ownDirectory(input);
      return async () => (await findSessions([path], { catalog: "off" })).sessions.length;
    }),
    ours(
      "Claude Code's form, the latest 10",
      (input) => {
        const path = ownDirectory(input);
        return async () =>
          (await findSessions([path], { catalog: "off", limit: 10 })).sessions.length;
      },
      { input: (scale) => ({ ...manySessions(scale), form: "claude" }) },
    ),
  ],
  check: (sessions, { facts }) => ok(sessions === facts.files || sessions === 10),
  figures: (sessions, wallMs) => ({ "ms each": wallMs / sessions, sessions }),
});

/** In no text of the generator. */
const absent = "zzyzx quuxly";

const searchTranscripts = defineCase<number>({
  name: "transcript-search",
  question: "How long does it take to search 2,000 sessions for what none of them has?",
  goal: "1 GB/s of CPU.",
  comparedBy: "ns/byte",
  subjects: inEachForm(manySessions, ({ path }) => async () => {
    let hits = 0;
    for await (const _hit of searchSessions(path, absent)) hits += 1;
    return hits;
  }),
  check: (hits) => deepStrictEqual(hits, 0),
  figures: (_hits, wallMs, { facts }) => ({
    "ns/byte": (wallMs * 1e6) / facts.bytes,
    "MB/s": facts.bytes / 1000 / wallMs,
  }),
});

export const cases: readonly BenchCase[] = [openTranscript, listTranscripts, searchTranscripts];
