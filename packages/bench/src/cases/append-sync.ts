/** Appending one message after the other, each in the log before the next; ours take the lock. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/core/pi";
import {
  appendCounts,
  type AppendedLog,
  appendFigures,
  checkAppended,
  noInput,
  smallMessage,
} from "../append-check.ts";
import { type BenchCase, type CaseInput, defineCase, type Subject } from "../bench-case.ts";
import { onNode24, peerSubjects, type SessionPeer } from "../session-peers.ts";

const ours: Subject<AppendedLog> = {
  name: "SessionManager.appendMessage() (locked)",
  role: "ours",
  prepare: prepareManager,
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<AppendedLog>({
  name: "append-sync",
  question: "How many messages a second can be appended, each in the log before the next begins?",
  goal: "with the lock, as many as the fastest peer without one.",
  nodeFlags: [],
  input: noInput,
  subjects: [
    ours,
    onNode24(ours),
    { name: "await session.append() (locked)", role: "ours", prepare: prepareSession },
    { name: "appendFileSync loop (no lock)", role: "baseline", prepare: preparePlain },
    ...peerSubjects("appendMessage()", preparePeer),
  ],
  check: checkAppended,
  figures: appendFigures,
});

function prepareManager({ scale, scratch }: CaseInput): () => AppendedLog {
  const manager = SessionManager.create(scratch, scratch);
  const appended = appendCounts[scale];
  return () => {
    for (let i = 0; i < appended; i++) manager.appendMessage(smallMessage(i));
    return { path: manager.getSessionFile() ?? "", appended };
  };
}

async function preparePeer(
  peer: SessionPeer,
  { scale, scratch }: CaseInput,
): Promise<() => Promise<AppendedLog>> {
  const manager = (await peer.load()).create(scratch, scratch);
  // Before the first answer of a model the peers write nothing.
  manager.appendMessage({ role: "assistant", content: [], timestamp: 0 });
  const appended = appendCounts[scale];
  return async () => {
    for (let i = 0; i < appended; i++) manager.appendMessage(smallMessage(i));
    await manager.flush?.();
    return { path: manager.getSessionFile() ?? "", appended: appended + 1 };
  };
}

async function prepareSession({ scale, scratch }: CaseInput): Promise<() => Promise<AppendedLog>> {
  const path = join(scratch, "session.jsonl");
  const session = await createSession(path);
  const appended = appendCounts[scale];
  return async () => {
    for (let i = 0; i < appended; i++) {
      await session.append({ type: "message", message: smallMessage(i) });
    }
    return { path, appended };
  };
}

function preparePlain({ scale, scratch }: CaseInput): () => AppendedLog {
  const path = join(scratch, "session.jsonl");
  writeFileSync(path, `${JSON.stringify({ type: "session", version: 3, id: "plain" })}\n`);
  const appended = appendCounts[scale];
  return () => {
    let parentId: string | null = null;
    for (let i = 0; i < appended; i++) {
      const id = i.toString(16).padStart(8, "0");
      const timestamp = new Date().toISOString();
      const entry = { type: "message", id, parentId, timestamp, message: smallMessage(i) };
      appendFileSync(path, `${JSON.stringify(entry)}\n`);
      parentId = id;
    }
    return { path, appended };
  };
}
