/** Opening a session: with nothing cached, and with the checkpoint of an earlier process. */
import { deepStrictEqual } from "node:assert";
import { baseline, type BenchCase, defineCase, ours, type Prepare } from "../bench-case.ts";
import { largeSession, middleSession, ownLog, type ScaledInput } from "../inputs.ts";
import { checkReopened, leaveCheckpoint, openCold, reopen } from "../our-session.ts";
import { readPlainly } from "../plain-session.ts";
import { loadPeer, onBothNodes, peerSubjects } from "../session-peers.ts";

interface Opened {
  readonly entries: number;
  readonly leafId: string | null;
  readonly log?: { readonly bytesRead: number; readonly hasCheckpoint: boolean };
}

const nodeFlags = ["--max-old-space-size=256"];

const openOurs = ours<Opened>("openSession", ({ path }) => async () => {
  const session = await openCold(path);
  return { entries: session.revision, leafId: session.leaf };
});

const openPeers = peerSubjects<Opened>("SessionManager.open()", async (peer, { path, scratch }) => {
  // Its modules are loaded before, as ours are.
  const managers = await loadPeer(peer);
  return async () => {
    const manager = await managers.open(path, scratch);
    return { entries: manager.getEntries().length, leafId: manager.getLeafId() };
  };
});

const parseEveryLine = baseline<Opened>("parse every line", ({ path }) => () => {
  const { entries } = readPlainly(path);
  return { entries: entries.length, leafId: entries.at(-1)?.id ?? null };
});

function openCase(name: string, size: string, goal: string, input: ScaledInput): BenchCase {
  return defineCase<Opened>({
    name,
    question: `How long does it take to open ${size} with nothing cached?`,
    goal,
    nodeFlags,
    input,
    subjects: [...onBothNodes(openOurs), { ...parseEveryLine, nodeFlags: [] }, ...openPeers],
    check: (opened, { facts: { entries, leafId } }) => deepStrictEqual(opened, { entries, leafId }),
    figures: (_opened, wallMs, { facts }) => ({ "MB/s": facts.bytes / 1000 / wallMs }),
  });
}

function prepareReopen(hasCheckpoint: boolean): Prepare<Opened> {
  return (input) => {
    const path = ownLog(input);
    if (hasCheckpoint) leaveCheckpoint(path);
    return async () => {
      const { session, logBytesRead } = await reopen(path, hasCheckpoint ? "read" : "off");
      const log = { bytesRead: logBytesRead, hasCheckpoint };
      return { entries: session.revision, leafId: session.leaf, log };
    };
  };
}

const reopen1gb = defineCase<Opened>({
  name: "reopen-1gb",
  question: "How long does it take to open 1 GB again, with the checkpoint of an earlier process?",
  goal: "100 times faster than the fastest peer, which has none.",
  nodeFlags,
  input: largeSession,
  subjects: [
    ours("openSession", prepareReopen(true)),
    baseline("openSession, without the checkpoint", prepareReopen(false)),
    ...openPeers,
  ],
  check: ({ log, ...opened }, { facts: { entries, leafId, bytes } }) => {
    deepStrictEqual(opened, { entries, leafId });
    if (log !== undefined) checkReopened(log.bytesRead, bytes, log.hasCheckpoint);
  },
  figures: () => ({}),
});

const goal1gb = "10 times faster than the fastest peer, with at most 150 MB of memory.";

export const cases: readonly BenchCase[] = [
  openCase("open-100mb", "100 MB", "8 times faster than the fastest peer.", middleSession),
  openCase("open-1gb", "1 GB", goal1gb, largeSession),
  reopen1gb,
];
