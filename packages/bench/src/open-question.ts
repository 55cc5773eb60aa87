/** The question how long opening takes, for inputs of any size. */
import { deepStrictEqual } from "node:assert";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase, type InputSpec, type Scale } from "./bench-case.ts";
import { readPlainly } from "./plain-reader.ts";

/** What a reader knows once it has opened a session. */
interface Opened {
  readonly entries: number;
  readonly leafId: string | null;
}

/** Makes the case for one size. */
export function openQuestion(
  name: string,
  size: string,
  goal: string,
  input: (scale: Scale) => InputSpec,
): BenchCase {
  return defineCase<Opened>({
    name,
    question: `How long does it take to open ${size} with nothing cached?`,
    goal,
    nodeFlags: ["--max-old-space-size=256"],
    input,
    subjects: [
      {
        name: "openSession",
        role: "ours",
        prepare:
          ({ path }) =>
          async () => {
            const session = await openSession(path, { access: "read", checkpoint: "off" });
            return { entries: session.revision, leafId: session.leaf };
          },
      },
      {
        name: "parse every line",
        role: "baseline",
        nodeFlags: [],
        prepare:
          ({ path }) =>
          () => {
            const { entries } = readPlainly(path);
            return { entries: entries.length, leafId: entries.at(-1)?.id ?? null };
          },
      },
    ],
    check: (opened, { facts }) => {
      deepStrictEqual(opened, { entries: facts.entries, leafId: facts.leafId });
    },
    figures: (_opened, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
  });
}
