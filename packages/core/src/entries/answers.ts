/**
 * Answers of a model that a log holds block by block, as Claude Code and Codex write them. Each
 * block is an entry of its own there; a model, and a copy of the log, need the whole answer.
 */
import type { SessionEntry, SessionMessageEntry } from "./entry-types.ts";
import type { AssistantMessage, Usage } from "./message-types.ts";

/** The key of an entry that says of which answer it is a part. */
export const answerKey: string = "branchlog.answer";

/** The key of an entry that continues an answer: its usage is what it adds. */
export const continuedKey: string = "branchlog.continues";

/**
 * Joins the parts of an answer: all blocks in their order and the usage of the parts together,
 * where the first of them is. Results and notes may be between the parts, messages of the user may
 * not.
 */
export class AnswerJoiner {
  /** The open answer, and what came behind it. */
  #waiting: SessionEntry[] = [];
  #answer: string | undefined;

  /** The entries that are whole, in their order, now that this one comes. */
  take(entry: SessionEntry): readonly SessionEntry[] {
    const answer = answerOf(entry);
    const [first, ...behind] = this.#waiting;
    if (answer !== undefined && answer === this.#answer && first !== undefined) {
      const joined = joinedWith(first, entry);
      if (joined !== undefined) {
        this.#waiting = [joined, ...behind];
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

  /** The entries that are left. */
  end(): readonly SessionEntry[] {
    const whole = this.#waiting.map((entry) => withoutKeys(entry));
    this.#waiting = [];
    this.#answer = undefined;
    return whole;
  }
}

/** The entries with their answers joined; the same entries if none is a part of one. */
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
  const rest = Object.entries(entry).filter(([key]) => key !== answerKey && key !== continuedKey);
  // Decoding boundary: the same entry without fields that are none of pi's.
  return Object.fromEntries(rest) as unknown as SessionEntry;
}

function joinedWith(before: SessionEntry, part: SessionEntry): SessionMessageEntry | undefined {
  if (before.type !== "message" || before.message.role !== "assistant") return undefined;
  const { message } = before;
  if (part.type === "usage") return { ...before, message: { ...message, usage: part.usage } };
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
