/** Appending with 64 promises in flight, so that many entries share one lock and one write. */
import { join } from "node:path";
import { createSession } from "@branchlog/core";
import {
  appendCounts,
  type AppendedLog,
  appendFigures,
  checkAppended,
  noInput,
  smallMessage,
} from "../append-check.ts";
import { type BenchCase, defineCase } from "../bench-case.ts";

const inFlight = 64;

/** See the file comment. */
export const benchCase: BenchCase = defineCase<AppendedLog>({
  name: "append-in-flight",
  question: "How many messages a second can be appended with 64 appends in flight?",
  goal: "300,000 a second.",
  nodeFlags: [],
  input: noInput,
  subjects: [
    {
      name: "session.append()",
      role: "ours",
      prepare: async ({ scale, scratch }) => {
        const path = join(scratch, "session.jsonl");
        const session = await createSession(path);
        const appended = appendCounts[scale];
        return async () => {
          let next = 0;
          const appendSome = async (): Promise<void> => {
            while (next < appended) {
              const message = smallMessage(next++);
              await session.append({ type: "message", message });
            }
          };
          await Promise.all(Array.from({ length: inFlight }, () => appendSome()));
          return { path, appended };
        };
      },
    },
  ],
  check: checkAppended,
  figures: appendFigures,
});
