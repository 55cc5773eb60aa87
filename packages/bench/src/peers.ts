/** The session managers of other agents as subjects of cases, installed on demand. */
import { ok } from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { env, execPath, platform } from "node:process";
import { fileURLToPath } from "node:url";
import type {
  CaseInput,
  InputFacts,
  PeerSet,
  RuntimeName,
  Subject,
  SubjectFacts,
  TimedWork,
} from "./bench-case.ts";
import type { PlainEntry, TreeNode } from "./plain-session.ts";

const root = new URL("../peers/", import.meta.url);
/** Of the packages of a set, install scripts run only for the one that is a runtime. */
const folders = {
  peers: { url: root, runtimePackage: "node" },
  omp: { url: new URL("omp/", root), runtimePackage: "bun" },
  stores: { url: new URL("stores/", root), runtimePackage: undefined },
} as const;

export function installPeers(set: PeerSet): void {
  const { url, runtimePackage } = folders[set];
  const wanted = readFileSync(new URL("package.json", url), "utf8");
  // Written last, so that an interrupted install does not count.
  const mark = new URL("node_modules/.installed.json", url);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  npm(url, "install", "--ignore-scripts", "--no-package-lock");
  if (runtimePackage !== undefined) npm(url, "rebuild", runtimePackage);
  writeFileSync(mark, wanted);
}

// Without the settings that npm and pnpm pass to the scripts that they run.
function npm(cwd: URL, ...args: readonly string[]): void {
  const own = Object.entries(env).filter(([name]) => !/^(npm|pnpm)_/i.test(name));
  try {
    execFileSync("npm", [...args, "--no-audit", "--no-fund"], {
      cwd,
      env: Object.fromEntries(own),
      stdio: ["ignore", "pipe", "inherit"],
      shell: platform === "win32",
    });
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(`the peers could not be installed (${reason}); run without --peers`, {
      cause: error,
    });
  }
}

export function peerModule(set: PeerSet, path: string): string {
  return new URL(`node_modules/${path}`, folders[set].url).href;
}

export function runtimePath(runtime: RuntimeName): string {
  if (runtime === "node") return execPath;
  if (runtime === "bun") return fileURLToPath(peerModule("omp", "bun/bin/bun.exe"));
  const suffix = platform === "win32" ? ".exe" : "";
  return fileURLToPath(peerModule("peers", `node/bin/node${suffix}`));
}

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
  readonly keepsSystemMessage?: boolean;
  /** Answers that a context may leave out, such as those that were never finished; default 0. */
  readonly contextDropsMax?: number;
  /** Whether a list counts the messages of the beginnings of files only. */
  readonly listsBeginnings?: boolean;
}

export const sessionPeers: readonly SessionPeer[] = [
  {
    name: "pi 0.73.1",
    set: "peers",
    runtime: "node",
    path: "@mariozechner/pi-coding-agent/dist/core/session-manager.js",
  },
  {
    name: "pi 0.87.1 on Node 24",
    set: "peers",
    runtime: "node-24",
    path: "@earendil-works/pi-coding-agent/dist/core/session-manager.js",
    keepsSystemMessage: true,
  },
  {
    name: "pi 1.6.0 on Node 24",
    set: "peers",
    runtime: "node-24",
    path: "pi-1.6/dist/core/session-manager.js",
    keepsSystemMessage: true,
  },
  {
    name: "omp 18.2.3 on Bun",
    set: "omp",
    runtime: "bun",
    path: "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts",
    contextDropsMax: 5,
    listsBeginnings: true,
  },
];

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
export function onBothNodes<Facts extends SubjectFacts>(subject: Facts): readonly [Facts, Facts] {
  const name = `${subject.name} on Node 24`;
  return [subject, { ...subject, name, runtime: "node-24", needs: "peers" }];
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

export function wantedContext(
  { contextMessages, entriesByType }: InputFacts,
  peer?: SessionPeer,
): WantedMessages {
  if (peer === undefined) return { least: contextMessages, most: contextMessages };
  const { keepsSystemMessage = false, contextDropsMax = 0 } = peer;
  const lacksSystemMessage = "compaction" in entriesByType && !keepsSystemMessage;
  const most = contextMessages - (lacksSystemMessage ? 1 : 0);
  return { least: most - contextDropsMax, most };
}

export function checkContext(messages: number, { least, most }: WantedMessages, more = 0): void {
  const isRight = messages >= least + more && messages <= most + more;
  ok(isRight, `${messages} messages instead of ${least + more} to ${most + more}`);
}
