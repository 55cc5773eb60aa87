/** Opening a session of 1 GB again, which an earlier process has left a checkpoint of. */
import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { type Opened, openPeers } from "../open-question.ts";

const child = fileURLToPath(new URL("../checkpoint-child.js", import.meta.url));

/** See the file comment. */
export const benchCase: BenchCase = defineCase<Opened>({
  name: "reopen-1gb",
  question: "How long does it take to open 1 GB again, with the checkpoint of an earlier process?",
  goal: "100 times faster than the fastest peer, which has none.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    {
      name: "openSession",
      role: "ours",
      prepare: async ({ path }) => {
        // Another process, so that its memory is not that of this one.
        await once(fork(child, [path]), "exit");
        return () => reopen(path, "read");
      },
    },
    {
      name: "openSession, without the checkpoint",
      role: "baseline",
      prepare:
        ({ path }) =>
        () =>
          reopen(path, "off"),
    },
    ...openPeers,
  ],
  check: (opened, { facts }) => {
    deepStrictEqual(opened, { entries: facts.entries, leafId: facts.leafId });
  },
  figures: () => ({}),
});

async function reopen(path: string, checkpoint: "off" | "read"): Promise<Opened> {
  const session = await openSession(path, { access: "read", checkpoint });
  return { entries: session.revision, leafId: session.leaf };
}
