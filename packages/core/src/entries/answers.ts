/**
 * Answers that some agents store block by block, each block an entry. Models and copies
 * of the log need the whole answer.
 */
import type { SessionEntry, SessionMessageEntry } from "./entry-types.ts";
import type { AssistantMessage, Usage } from "./message-types.ts";

/** Marks an entry as a part of the answer with that id. */
export const answerKey: string = "branchlog.answer";

/** What tells the usage of an entry from that of any other, whatever time a fork gave its copy. */
export const countedKey: string = "branchlog.counted";

/** Marks the continuation of an answer; its usage is the increment. */
export const continuedKey: string = "branchlog.continues";

const ownKeys: ReadonlySet<string> = new Set([answerKey, continuedKey, countedKey]);

/**
 * Joins all blocks and the usage of an answer at its first part. Results and notes may lie between
 * parts, messages of the user may not.
 */
export class AnswerJoiner {
  /** The open answer and the entries after it. */
  #waiting: SessionEntry[] = [];
  #answer: string | undefined;
  readonly #joinedInto = new Map<string, string>();

  /** The id of the entry that a part was joined into; the same id for any other entry. */
  idOf(id: string): string {
    return this.#joinedInto.get(id) ?? id;
  }

  /** The entries completed by this one, in order. */
  take(entry: SessionEntry): readonly SessionEntry[] {
    const answer = answerOf(entry);
    const [first, ...behind] = this.#waiting;
    if (answer !== undefined && answer === this.#answer && first !== undefined) {
      const joined = joinedWith(first, entry);
      if (joined !== undefined) {
        this.#waiting = [joined, ...behind];
        this.#joinedInto.set(entry.id, first.id);
        return [];
      }
    }
    if (first !== undefined && answer === undefined && mayBeWithin(entry)) {
      this.#waiting.push(entry);
      return [];
    }
    const whole = this.end();
    this.#answer = answer;
    if (answer === undefined) return [...whole, entry];
    this.#waiting = [entry];
    return whole;
  }

  end(): readonly SessionEntry[] {
    const whole = this.#waiting.map((entry) => withoutKeys(entry));
    this.#waiting = [];
    this.#answer = undefined;
    return whole;
  }
}

/** The same entries if none is a part of an answer. */
export function wholeAnswers(entries: readonly SessionEntry[]): readonly SessionEntry[] {
  if (!entries.some((entry) => answerOf(entry) !== undefined)) return entries;
  const joiner = new AnswerJoiner();
  const whole = entries.flatMap((entry) => joiner.take(entry));
  return [...whole, ...joiner.end()];
}

function answerOf(entry: SessionEntry): string | undefined {
  const answer: unknown = Reflect.get(entry, answerKey);
  return typeof answer === "string" ? answer : undefined;
}

function mayBeWithin(entry: SessionEntry): boolean {
  if (entry.type === "message") return entry.message.role === "toolResult";
  return entry.type === "custom" || entry.type === "usage";
}

function withoutKeys(entry: SessionEntry): SessionEntry {
  const rest = Object.entries(entry).filter(([key]) => !ownKeys.has(key));
  // Decoding boundary: the same entry without fields unknown to pi.
  return Object.fromEntries(rest) as unknown as SessionEntry;
}

function joinedWith(before: SessionEntry, part: SessionEntry): SessionMessageEntry | undefined {
  if (before.type !== "message" || before.message.role !== "assistant") return undefined;
  const { message } = before;
  if (part.type === "usage") {
    // A second request under the same answer stays an entry of its own, and so is counted.
    const isFirst = message.usage.totalTokens === 0;
    return isFirst ? { ...before, message: { ...message, usage: part.usage } } : undefined;
  }
  if (part.type !== "message" || part.message.role !== "assistant") return undefined;
  return { ...before, message: joinedMessage(message, part.message) };
}

function joinedMessage(before: AssistantMessage, part: AssistantMessage): AssistantMessage {
  const content = [...before.content, ...part.content];
  const hasCalls = content.some(({ type }) => type === "toolCall");
  const stopReason = part.stopReason === "stop" && hasCalls ? "toolUse" : part.stopReason;
  const { errorMessage } = part;
  const error = errorMessage === undefined ? {} : { errorMessage };
  return { ...before, content, usage: sumOf(before.usage, part.usage), stopReason, ...error };
}

function sumOf(one: Usage, other: Usage): Usage {
  return {
    ...one,
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    totalTokens: one.totalTokens + other.totalTokens,
  };
}
