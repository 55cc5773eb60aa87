/** Opening a session of 1 GB again, which an earlier process has left a checkpoint of. */
import { deepStrictEqual } from "node:assert";
import { type BenchCase, defineCase, type InputFacts, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import { checkReopened, leaveCheckpoint, reopen } from "../kept-checkpoint.ts";
import { type Opened, openPeers } from "../open-question.ts";
import { ownLog } from "../own-input.ts";

interface OpenedAgain extends Opened {
  /** Of ours. */
  readonly log?: { readonly bytesRead: number; readonly hasCheckpoint: boolean };
}

/** See the file comment. */
export const benchCase: BenchCase = defineCase<OpenedAgain>({
  name: "reopen-1gb",
  question: "How long does it take to open 1 GB again, with the checkpoint of an earlier process?",
  goal: "100 times faster than the fastest peer, which has none.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    { ...ours(true), name: "openSession", role: "ours" },
    { ...ours(false), name: "openSession, without the checkpoint", role: "baseline" },
    ...openPeers,
  ],
  check: ({ log, ...opened }, { facts }) => {
    deepStrictEqual(opened, openedBy(facts));
    if (log !== undefined) checkReopened(log.bytesRead, facts.bytes, log.hasCheckpoint);
  },
  figures: () => ({}),
});

function ours(hasCheckpoint: boolean): Pick<Subject<OpenedAgain>, "prepare"> {
  return {
    prepare: (input) => {
      const path = ownLog(input);
      if (hasCheckpoint) leaveCheckpoint(path);
      return async () => {
        const { session, logBytesRead } = await reopen(path, hasCheckpoint ? "read" : "off");
        const log = { bytesRead: logBytesRead, hasCheckpoint };
        return { entries: session.revision, leafId: session.leaf, log };
      };
    },
  };
}

function openedBy({ entries, leafId }: InputFacts): Opened {
  return { entries, leafId };
}
