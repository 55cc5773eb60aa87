/** The latest state of an extension among very many of its snapshots. */
import { deepStrictEqual, ok } from "node:assert";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase } from "../bench-case.ts";
import { customSession } from "../inputs.ts";

/** The id of the last custom entry of each type. */
type LastIds = Readonly<Record<string, string | null>>;

const customsMin = { full: 250_000, quick: 5_000 } as const;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<LastIds>({
  name: "latest-custom",
  question: "How long does it take to find the latest snapshot of each extension among 250,000?",
  goal: "one body read for each.",
  nodeFlags: ["--max-old-space-size=256"],
  input: customSession,
  subjects: [
    {
      name: "session.entries({ customType, reverse })",
      role: "ours",
      prepare: async ({ path, facts }) => {
        const session = await openSession(path, { access: "read", checkpoint: "off" });
        return async () => {
          const lastIds: Record<string, string | null> = {};
          for (const customType of Object.keys(facts.customTypes)) {
            const query = { type: "custom", customType, reverse: true } as const;
            const first = await session.entries(query).next();
            lastIds[customType] = first.done === true ? null : first.value.id;
          }
          return lastIds;
        };
      },
    },
  ],
  check: (lastIds, { facts, scale }) => {
    const customs = Object.entries(facts.customTypes);
    deepStrictEqual(
      lastIds,
      Object.fromEntries(customs.map(([name, { lastId }]) => [name, lastId])),
    );
    ok((facts.entriesByType["custom"] ?? 0) >= customsMin[scale], "too few custom entries");
  },
  figures: (lastIds, wallMs) => ({ "µs/lookup": (wallMs * 1000) / Object.keys(lastIds).length }),
});
