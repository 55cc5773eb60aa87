/**
 * The `Session` of OpenAI Agents on a Branchlog session. Its items are the path to the last entry
 * of the log, written by any process. Nothing is removed: popped, cleared or replaced items stay on
 * a separate branch.
 */
import { createHash, randomUUID } from "node:crypto";
import type {
  AgentInputItem,
  RunContext,
  RunContextAwareSession,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransaction,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import { BranchlogError, isBranchlogError, openOrCreateSession } from "@branchlog/core";
import type { Session, StoredSession } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import { commitConflictsMax, invalidArgument, isInStore, requireList } from "@branchlog/core/files";
import { requireOptions, requireText } from "@branchlog/core/files";
import { isObject } from "@branchlog/core/rows";
import { jsonText } from "../json-text.ts";
import { historyOf } from "./history.ts";
import type { HistoryItem } from "./history.ts";
import { isAnswer, itemDraft, operationDraft, operationOf } from "./item-entry.ts";
import type { Spent } from "./item-entry.ts";

/** Facts of a new session. */
export interface OpenaiSessionOptions {
  /** The directory that the agent works in. Default: that of the process. */
  readonly cwd?: string;
}

/** A session for `run(agent, input, { session })`. */
export interface OpenaiSession
  extends
    RunContextAwareSession,
    Pick<SessionHistoryRewriteAwareSession, "applyHistoryMutations">,
    Pick<SessionHistoryTransactionAwareSession, "applyHistoryTransaction"> {
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void>;
  /** Waits for pending appends, and closes the log. */
  close(): Promise<void>;
}

/**
 * Opens the session at a path, or with a name in a store, when it is first used, and creates it if
 * there is none. Items are returned unchanged. Several processes can use one session.
 *
 * `popItem` and `clearSession` start a branch without the removed items, a compaction is a
 * compaction entry: the page and `branchlog tree` show the earlier items. A transaction of a
 * history is applied once for each `operationId`, atomically.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`. Its methods reject as `openOrCreateSession` and
 * `Session.append`; with `ERR_CONFLICT` if the suffix to replace is another one, and with
 * `ERR_DUPLICATE_ID` for an `operationId` of another transaction.
 * @example
 * const session = openaiSession("sessions/support.jsonl");
 * await run(agent, "Hi", { session });
 */
export function openaiSession(
  place: string | StoredSession,
  options: OpenaiSessionOptions = {},
): OpenaiSession {
  requireOptions(options, { cwd: true });
  if (isInStore<StoredSession>(place)) {
    const { store, id } = place;
    return new AgentSession(() => openOrCreateSession({ store, id, ...options }));
  }
  const path = requireText("The path", place);
  return new AgentSession(() => openOrCreateSession(path, options));
}

/** Where items go, and which. */
interface Change {
  /** How many items stay before them. */
  readonly keep: number;
  readonly items: readonly AgentInputItem[];
  /** Whether the first one stands for all before. */
  readonly replaces?: boolean;
  /** For the last answer among them. */
  readonly spent?: Spent | undefined;
}

class AgentSession implements OpenaiSession {
  readonly acceptsRunContext = true;
  readonly #open: () => Promise<Session>;
  #session: Promise<Session> | undefined;
  #isClosed = false;
  /** The usage of runs when their items were last added. */
  readonly #spent = new WeakMap<object, Spent>();

  constructor(open: () => Promise<Session>) {
    this.#open = open;
  }

  async getSessionId(): Promise<string> {
    return (await this.#opened()).header.id;
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const items = (await this.#history(await this.#opened())).map(({ item }) => item);
    const count = limit === undefined ? items.length : Math.min(Math.max(limit, 0), items.length);
    // Bodies are shared, and the caller may change what it gets.
    return structuredClone(items.slice(items.length - count));
  }

  async addItems(items: AgentInputItem[], runContext?: RunContext): Promise<void> {
    const added = requireList("The items", items);
    if (added.length === 0) return;
    const session = await this.#opened();
    const spent = runContext && added.some(isAnswer) ? this.#takeSpent(runContext) : undefined;
    const { drafts } = draftsOf({ keep: 0, items: added, spent });
    await session.appendAll(drafts, { parent: "tail", allowUnknownType: true });
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    let popped: AgentInputItem | undefined;
    await this.#change((history) => {
      popped = history.at(-1)?.item;
      return popped === undefined ? undefined : { keep: history.length - 1, items: [] };
    });
    return popped === undefined ? undefined : structuredClone(popped);
  }

  async clearSession(): Promise<void> {
    await this.#change((history) => (history.length === 0 ? undefined : { keep: 0, items: [] }));
  }

  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const isMarked = requireList("The items", items)[0]?.type === "compaction";
    await this.#change(({ length }) =>
      isMarked ? { keep: length, items, replaces: true } : { keep: 0, items },
    );
  }

  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    await this.#change((history) => {
      const before = history.map(({ item }) => item);
      let items = before;
      for (const { callId, replacement } of mutations) {
        let isKept = false;
        items = items.flatMap((item) => {
          if (item.type !== "function_call" || item.callId !== callId) return [item];
          const first = isKept ? [] : [replacement];
          isKept = true;
          return first;
        });
      }
      const changed = items.findIndex((item, at) => item !== before[at]);
      const keep = changed < 0 ? items.length : changed;
      if (keep === before.length && keep === items.length) return undefined;
      return { keep, items: items.slice(keep) };
    });
  }

  async applyHistoryTransaction({
    operationId,
    transaction,
  }: SessionHistoryTransactionArgs): Promise<void> {
    if (requireText("The operationId", operationId).trim() === "") {
      throw invalidArgument("The operationId of a transaction must not be empty");
    }
    const digest = hashOf(sortedText(transaction));
    // The caller may change it meanwhile.
    const given = structuredClone(transaction);
    const operation = { id: hashOf(operationId), digest };
    await this.#change((history) => changeOfTransaction(history, given), operation);
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#isClosed = true;
    this.#session = undefined;
    await (await session?.catch(() => undefined))?.close();
  }

  async #opened(): Promise<Session> {
    if (this.#isClosed) {
      throw new BranchlogError("ERR_CLOSED", "The session of the agent was closed");
    }
    const opened = (this.#session ??= this.#open());
    try {
      return await opened;
    } catch (error) {
      // The next call tries again.
      if (this.#session === opened) this.#session = undefined;
      throw error;
    }
  }

  async #history(session: Session): Promise<readonly HistoryItem[]> {
    await session.refresh();
    return historyOf(await session.branch(session.tail));
  }

  /** Decides on the current log, and again if others appended before it is written. */
  async #change(
    decide: (history: readonly HistoryItem[]) => Change | undefined,
    operation?: Operation,
  ): Promise<void> {
    const session = await this.#opened();
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      const history = await this.#history(session);
      if (operation !== undefined && (await isApplied(session, operation))) return;
      const expectedTail = session.tail;
      const change = decide(history);
      if (change === undefined) return;
      let at = change.keep;
      // Items written together count together: the first ones are written again.
      while (at > 0 && at < history.length && history[at - 1]?.endId === undefined) at -= 1;
      const again = history.slice(at, change.keep).map(({ item }) => item);
      const { drafts, ids } = draftsOf(
        { ...change, items: [...again, ...change.items] },
        operation,
      );
      const id = at === history.length ? expectedTail : (history[at - 1]?.endId ?? null);
      try {
        const place = { parent: { id }, expectedTail, allowUnknownType: true } as const;
        await session.appendAll(drafts, ids === undefined ? place : { ...place, ids });
        return;
      } catch (error) {
        const isConflict = isBranchlogError(error, "ERR_CONFLICT") && error.written.length === 0;
        if (!isConflict) throw error;
      }
    }
    const message = `Others appended to ${session.path} ${commitConflictsMax} times first.`;
    throw new BranchlogError("ERR_APPEND_FAILED", message, { path: session.path });
  }

  /** Since the last time. */
  #takeSpent(runContext: RunContext): Spent {
    const { inputTokens, outputTokens, inputTokensDetails } = runContext.usage;
    const cached = inputTokensDetails.map((details) => details["cached_tokens"] ?? 0);
    const cacheRead = cached.reduce((sum, count) => sum + count, 0);
    const all = { input: inputTokens - cacheRead, output: outputTokens, cacheRead };
    const before = this.#spent.get(runContext) ?? { input: 0, output: 0, cacheRead: 0 };
    this.#spent.set(runContext, all);
    return {
      input: all.input - before.input,
      output: all.output - before.output,
      cacheRead: all.cacheRead - before.cacheRead,
    };
  }
}

/** A transaction that is applied once. */
interface Operation {
  /** Of the entry that completes it. */
  readonly id: string;
  readonly digest: string;
}

async function isApplied(session: Session, { id, digest }: Operation): Promise<boolean> {
  const applied = await session.entry(id);
  if (applied === undefined) return false;
  if (operationOf(applied) === digest) return true;
  const message = "Another transaction with this operationId was already applied.";
  throw new BranchlogError("ERR_DUPLICATE_ID", message, { path: session.path, id });
}

/** Only moves the leaf for all who open the log. */
const leafDraft: AnyDraft = { type: "custom", customType: "branchlog.leaf" };

/** Several items count together or not at all. */
function draftsOf({ items, replaces = false, spent }: Change, operation?: Operation): Drafts {
  if (!items.every((item: unknown) => isObject(item))) {
    throw invalidArgument("Each item of a session must be an object");
  }
  const timeMs = Date.now();
  const spender = items.findLastIndex(isAnswer);
  const change = items.length > 1 ? randomUUID() : undefined;
  const drafts = items.map((item, at) => {
    const ends = at === items.length - 1;
    return itemDraft(item, {
      timeMs,
      spent: at === spender ? spent : undefined,
      replaces: replaces && at === 0,
      change,
      ends,
      operation: ends ? operation?.digest : undefined,
    });
  });
  if (operation === undefined) {
    return { drafts: drafts.length === 0 ? [leafDraft] : drafts };
  }
  const all = drafts.length === 0 ? [operationDraft(operation.digest)] : drafts;
  const ids = all.map((_, at) => (at === all.length - 1 ? operation.id : randomUUID()));
  return { drafts: all, ids };
}

interface Drafts {
  readonly drafts: readonly AnyDraft[];
  readonly ids?: readonly string[];
}

function changeOfTransaction(
  history: readonly HistoryItem[],
  transaction: SessionHistoryTransaction,
): Change {
  if (transaction.type === "append_items")
    return { keep: history.length, items: transaction.items };
  const { expectedSuffix, replacement } = transaction;
  const keep = history.length - expectedSuffix.length;
  const suffix = history.slice(Math.max(keep, 0)).map(({ item }) => item);
  if (keep >= 0 && sortedText(suffix) === sortedText(expectedSuffix))
    return { keep, items: replacement };
  const message = "The last items of the session are not those to replace; nothing changed.";
  throw new BranchlogError("ERR_CONFLICT", message);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** The same for equal values. Throws `ERR_UNSERIALIZABLE`. */
function sortedText(value: object): string {
  const copy: unknown = JSON.parse(jsonText(value, "A transaction"));
  return JSON.stringify(copy, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
