/** The difference of two contexts of a model, message by message. The comparison is pure. */
import { createHash } from "node:crypto";
import { diffArrays } from "diff";
import type { ChangeObject } from "diff";
import type { AgentMessage } from "@branchlog/core";
import type { ComparedPlace } from "./branch-difference.ts";

/** In the order of the messages; removals come before the additions in their place. */
export type ContextDifference =
  | { readonly kind: "common"; readonly count: number }
  | { readonly kind: "removed" | "added"; readonly message: AgentMessage };

/**
 * A shortest difference takes time quadratic in its length. Longer ones are given as if nothing
 * after the first difference were common.
 */
const changesMax = 2_000;

/** Fields that no model gets. */
const incidental: ReadonlySet<string> = new Set(["timestamp", "usage", "details"]);

/**
 * Compares the contexts of a model at two entries, after compactions. Messages are the same if all
 * their fields but time, usage and details are, in any order of keys.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, and as `session.context`.
 * @example
 * const steps = await diffContexts({ session: parent }, { session: fork });
 * console.log(steps.every(({ kind }) => kind === "common"));
 */
export async function diffContexts(
  from: ComparedPlace,
  to: ComparedPlace,
): Promise<readonly ContextDifference[]> {
  return diffMessages(await messagesAt(from), await messagesAt(to));
}

async function messagesAt({ session, at }: ComparedPlace): Promise<readonly AgentMessage[]> {
  return (await session.context(at === undefined ? {} : { at })).messages;
}

/** Pure. All steps but the added ones are the first messages; all but the removed, the second. */
export function diffMessages(
  from: readonly AgentMessage[],
  to: readonly AgentMessage[],
): readonly ContextDifference[] {
  const changes = changesBetween(from.map(keyed), to.map(keyed));
  return changes.flatMap(({ added, removed, value }): readonly ContextDifference[] => {
    if (!added && !removed) return [{ kind: "common", count: value.length }];
    return value.map(({ message }) => ({ kind: removed ? "removed" : "added", message }));
  });
}

interface Keyed {
  readonly message: AgentMessage;
  readonly key: string;
}

function keyed(message: AgentMessage): Keyed {
  return { message, key: digestOf(message) };
}

function changesBetween(
  from: Keyed[],
  to: Keyed[],
): readonly Pick<ChangeObject<Keyed[]>, "added" | "removed" | "value">[] {
  const comparator = (one: Keyed, other: Keyed): boolean => one.key === other.key;
  const found = diffArrays(from, to, { comparator, maxEditLength: changesMax });
  if (found !== undefined) return found;
  const first = from.findIndex(({ key }, place) => key !== to[place]?.key);
  const common = first < 0 ? from.length : first;
  const changes = [
    { added: false, removed: false, value: from.slice(0, common) },
    { added: false, removed: true, value: from.slice(common) },
    { added: true, removed: false, value: to.slice(common) },
  ];
  return changes.filter(({ value }) => value.length > 0);
}

/** Of its canonical JSON, with the keys in order; instead of it, since contexts are large. */
function digestOf(message: AgentMessage): string {
  const said = Object.entries(message).filter(([key]) => !incidental.has(key));
  const json = JSON.stringify(Object.fromEntries(said), (_key, value: unknown) => sorted(value));
  return createHash("sha256").update(json).digest("base64");
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
