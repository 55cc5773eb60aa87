/** Opening a session: with nothing cached, and with the checkpoint of an earlier process. */
import { deepStrictEqual } from "node:assert";
import { baseline, type BenchCase, defineCase, ours } from "../bench-case.ts";
import { largeSession, ownLog } from "../inputs.ts";
import { checkReopened, leaveCheckpoint, openCold, reopen } from "../our-session.ts";
import { loadPeer, onBothNodes, peerSubjects } from "../peers.ts";
import { readPlainly } from "../plain-session.ts";

interface Opened {
  readonly entries: number;
  readonly leafId: string | null;
  readonly logBytesRead?: number;
}

const nodeFlags = ["--max-old-space-size=256"];

const openPeers = peerSubjects<Opened>("SessionManager.open()", async (peer, { path, scratch }) => {
  // Its modules are loaded before, as ours are.
  const managers = await loadPeer(peer);
  return async () => {
    const manager = await managers.open(path, scratch);
    return { entries: manager.getEntries().length, leafId: manager.getLeafId() };
  };
});

const open1gb = defineCase<Opened>({
  name: "open-1gb",
  question: "How long does it take to open 1 GB with nothing cached?",
  goal: "10 times faster than the fastest peer, with at most 150 MB of memory.",
  nodeFlags,
  input: largeSession,
  subjects: [
    ...onBothNodes(
      ours<Opened>("openSession", ({ path }) => async () => {
        const session = await openCold(path);
        return { entries: session.revision, leafId: session.leaf };
      }),
    ),
    {
      ...baseline<Opened>("parse every line", ({ path }) => () => {
        const entries = readPlainly(path);
        return { entries: entries.length, leafId: entries.at(-1)?.id ?? null };
      }),
      nodeFlags: [],
    },
    ...openPeers,
  ],
  check: (opened, { facts: { entries, leafId } }) => deepStrictEqual(opened, { entries, leafId }),
  figures: (_opened, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
});

const reopen1gb = defineCase<Opened>({
  name: "reopen-1gb",
  question: "How long does it take to open 1 GB again, with the checkpoint of an earlier process?",
  goal: "100 times faster than the fastest peer, which has none.",
  nodeFlags,
  input: largeSession,
  subjects: [
    ours("openSession", (input) => {
      const path = ownLog(input);
      leaveCheckpoint(path);
      return async () => {
        const { session, logBytesRead } = await reopen(path);
        return { entries: session.revision, leafId: session.leaf, logBytesRead };
      };
    }),
    ...openPeers,
  ],
  check: ({ logBytesRead, ...opened }, { facts: { entries, leafId, bytes } }) => {
    deepStrictEqual(opened, { entries, leafId });
    if (logBytesRead !== undefined) checkReopened(logBytesRead, bytes);
  },
  figures: () => ({}),
});

export const cases: readonly BenchCase[] = [open1gb, reopen1gb];
