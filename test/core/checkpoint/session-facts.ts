/** Everything that a session says of its log, to compare one opening with another. */
import { expect } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import type { Diagnostic, OpenOptions, Session } from "@branchlog/core";
import { collected } from "../../support/collected.ts";

/** What a session says, after it was opened and read to its end. */
export async function factsOf(session: Session): Promise<unknown> {
  // First: reading finds damage, of which a session that saw the log grow may know already.
  const entries = await collected(session.entries());
  const tree = session.tree();
  const ids = new Set([...entries.map(({ id }) => id), ...session.tips().map(({ id }) => id)]);
  return {
    entries,
    nodes: [...ids].map((id) => [tree.node(id), tree.children(id)]),
    roots: tree.roots,
    tips: session.tips(),
    tail: session.tail,
    leaf: session.leaf,
    revision: session.revision,
    header: session.header,
    labels: [...session.labels],
    name: session.name,
    settings: session.settings,
    context: await session.context(),
    usage: await session.usage,
    summary: await session.summary,
    // In the order of the file: they are listed as they were found, which may have been earlier.
    diagnostics: session.diagnostics.toSorted((one, other) => placeOf(one) - placeOf(other)),
  };
}

/** The facts of a log that is opened so. */
export async function openedFacts(path: string, options: OpenOptions): Promise<unknown> {
  const session = await openSession(path, { access: "read", ...options });
  return factsOf(session);
}

/** Options with which a session that is closed leaves a checkpoint, however short its log is. */
export const always: OpenOptions = { checkpointEveryBytes: 1 };

/** Opens a log, and leaves its checkpoint behind. */
export async function leaveCheckpoint(path: string, options: OpenOptions = {}): Promise<void> {
  await (await openSession(path, { ...always, ...options })).close();
}

/** A log says the same with its checkpoint as without. */
export async function expectSame(path: string, options: OpenOptions = {}): Promise<void> {
  const without = await openedFacts(path, { ...options, checkpoint: "off" });
  expect(await openedFacts(path, { ...always, ...options })).toEqual(without);
}

/** Whether opening took the checkpoint up: then it parses the header, and nothing else. */
export async function isTakenUp(path: string, options: OpenOptions = {}): Promise<boolean> {
  decodeCounter.parses = 0;
  await openSession(path, { access: "read", ...always, ...options });
  return decodeCounter.parses === 1;
}

function placeOf({ offset = -1 }: Diagnostic): number {
  return offset;
}
