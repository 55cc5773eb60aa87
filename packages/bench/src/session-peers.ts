/**
 * The session managers of other agents as subjects of cases. Their modules are loaded only in the
 * process that measures them.
 */
import { ok } from "node:assert";
import type { CaseInput, InputFacts, Subject, SubjectFacts, TimedWork } from "./bench-case.ts";
import { peerModule, type PeerSet, type RuntimeName } from "./peer-folders.ts";
import type { PlainEntry, TreeNode } from "./plain-session.ts";

export interface PeerManager {
  getEntries(): readonly unknown[];
  getEntry(id: string): Pick<PlainEntry, "parentId"> | undefined;
  getChildren(parentId: string): readonly Pick<PlainEntry, "id">[];
  getTree(): readonly TreeNode[];
  getLeafId(): string | null;
  buildSessionContext(): { readonly messages: readonly unknown[] };
  appendMessage(message: object): string;
  getSessionFile(): string | undefined;
  /** Where appends are written later: until all are. */
  flush?(): Promise<void>;
}

interface PeerClass {
  create(cwd: string, directory: string): PeerManager;
  open(path: string, directory?: string): PeerManager | Promise<PeerManager>;
  list(cwd: string, directory: string): Promise<readonly { readonly messageCount: number }[]>;
}

export interface SessionPeer {
  readonly name: string;
  readonly set: PeerSet;
  readonly runtime: RuntimeName;
  readonly path: string;
  /** Whether the context begins with the system message that a compaction holds. */
  readonly keepsSystemMessage: boolean;
  /** Answers that a context may leave out, such as those that were never finished. */
  readonly contextDropsMax: number;
  /** Whether a list counts the messages of whole files, not of their beginnings. */
  readonly listsExactly: boolean;
}

export const sessionPeers: readonly SessionPeer[] = [
  {
    name: "pi 0.73.1",
    set: "peers",
    runtime: "node",
    path: "@mariozechner/pi-coding-agent/dist/core/session-manager.js",
    keepsSystemMessage: false,
    contextDropsMax: 0,
    listsExactly: true,
  },
  {
    name: "pi 0.87.1 on Node 24",
    set: "peers",
    runtime: "node-24",
    path: "@earendil-works/pi-coding-agent/dist/core/session-manager.js",
    keepsSystemMessage: true,
    contextDropsMax: 0,
    listsExactly: true,
  },
  {
    name: "omp 18.2.3 on Bun",
    set: "omp",
    runtime: "bun",
    path: "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts",
    keepsSystemMessage: false,
    contextDropsMax: 5,
    listsExactly: false,
  },
];

/** One subject for each peer; `prepare` is that of a case, for one of them. */
export function peerSubjects<Result>(
  what: string,
  prepare: (peer: SessionPeer, input: CaseInput) => Promise<TimedWork<Result>>,
): readonly Subject<Result>[] {
  return sessionPeers.map((peer) => ({
    name: `${peer.name}: ${what}`,
    role: "peer",
    nodeFlags: [],
    runtime: peer.runtime,
    needs: peer.set,
    prepare: (input) => prepare(peer, input),
  }));
}

/** The subject, and the same on the Node that the newer pi needs, to tell engine from runtime. */
export function onBothNodes<Facts extends SubjectFacts>(subject: Facts): readonly Facts[] {
  return [subject, onNode24(subject)];
}

export function onNode24<Facts extends SubjectFacts>(subject: Facts): Facts {
  const name = `${subject.name} on Node 24`;
  return { ...subject, name, runtime: "node-24", needs: "peers" };
}

export async function loadPeer({ set, path }: SessionPeer): Promise<PeerClass> {
  // Decoding boundary: the modules of the versions named above.
  const module = (await import(peerModule(set, path))) as { readonly SessionManager: PeerClass };
  return module.SessionManager;
}

export async function openPeer(peer: SessionPeer, input: CaseInput): Promise<PeerManager> {
  return (await loadPeer(peer)).open(input.path, input.scratch);
}

export interface WantedMessages {
  readonly least: number;
  readonly most: number;
}

/** Of a peer, whose dialect may be older. */
export function peerContext(peer: SessionPeer, facts: InputFacts): WantedMessages {
  const hasCompaction = (facts.entriesByType["compaction"] ?? 0) > 0;
  const most = facts.contextMessages - (hasCompaction && !peer.keepsSystemMessage ? 1 : 0);
  return { least: most - peer.contextDropsMax, most };
}

/** Of ours: exactly those that are there. */
export function ourContext({ contextMessages }: InputFacts): WantedMessages {
  return { least: contextMessages, most: contextMessages };
}

/** Throws unless so many messages, and `more` appended since, are what was wanted. */
export function checkContext(messages: number, { least, most }: WantedMessages, more = 0): void {
  const isRight = messages >= least + more && messages <= most + more;
  ok(isRight, `${messages} messages instead of ${least + more} to ${most + more}`);
}
