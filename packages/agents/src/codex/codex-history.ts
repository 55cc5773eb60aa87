/** The current settings at each line of a rollout: bodies are built long after their rows. Pure. */
import { SavedFields, finiteNumber, savedText } from "@branchlog/core/rows";

/** A value from a line on. */
interface Since<T> {
  readonly line: number;
  readonly value: T;
}

/** Lines ascend. Each query is O(log of the entries). */
export class CodexHistory {
  provider = "openai-codex";
  #models: Since<string>[] = [];
  #levels: Since<string>[] = [];
  /** For compactions. */
  #contextTokens: Since<number>[] = [];
  /** The lines where answers begin and end, by turns. */
  #answerBounds: number[] = [];
  /** Whose records follow: a fork repeats those of another session after its header. */
  #threads: Since<string>[] = [];

  save(): object {
    return {
      provider: this.provider,
      models: this.#models,
      levels: this.#levels,
      contextTokens: this.#contextTokens,
      answerBounds: this.#answerBounds,
      threads: this.#threads,
    };
  }

  restore(saved: SavedFields): void {
    this.provider = saved.text("provider");
    this.#models = saved.list("models", Infinity, (one) => savedSince(one, savedText));
    this.#levels = saved.list("levels", Infinity, (one) => savedSince(one, savedText));
    this.#contextTokens = saved.list("contextTokens", Infinity, (one) =>
      savedSince(one, finiteNumber),
    );
    this.#answerBounds = saved.list("answerBounds", Infinity, finiteNumber);
    this.#threads = saved.list("threads", Infinity, (one) => savedSince(one, savedText));
  }

  /** Returns whether it is another than before. */
  learnModel(line: number, model: string): boolean {
    return learn(this.#models, line, model);
  }

  learnLevel(line: number, level: string): boolean {
    return learn(this.#levels, line, level);
  }

  learnContextTokens(line: number, tokens: number): void {
    this.#contextTokens.push({ line, value: tokens });
  }

  /** Begins an answer, or ends the one that has begun. */
  boundAnswer(line: number): void {
    this.#answerBounds.push(line);
  }

  learnThread(line: number, id: string): void {
    learn(this.#threads, line, id);
  }

  threadAt(line: number): string {
    return valueAt(this.#threads, line)?.value ?? "";
  }

  modelAt(line: number): string {
    return valueAt(this.#models, line)?.value ?? "unknown";
  }

  changesModelAt(line: number): boolean {
    return valueAt(this.#models, line)?.line === line;
  }

  changesLevelAt(line: number): boolean {
    return valueAt(this.#levels, line)?.line === line;
  }

  contextTokensAt(line: number): number {
    return valueAt(this.#contextTokens, line)?.value ?? 0;
  }

  /** The first line of the answer that this one is a part of. */
  answerAt(line: number): number | undefined {
    const bounds = this.#answerBounds;
    const found = countUpTo(bounds.length, (at) => bounds[at], line);
    return found % 2 === 1 ? bounds[found - 1] : undefined;
  }
}

function savedSince<T>(element: unknown, read: (value: unknown) => T): Since<T> {
  const saved = new SavedFields(element);
  return { line: saved.finite("line"), value: read(saved.scalar("value")) };
}

function learn<T>(values: Since<T>[], line: number, value: T): boolean {
  if (values.at(-1)?.value === value) return false;
  values.push({ line, value });
  return true;
}

function valueAt<T>(values: readonly Since<T>[], line: number): Since<T> | undefined {
  return values[countUpTo(values.length, (at) => values[at]?.line, line) - 1];
}

/** How many of these lines are at most `line`. */
function countUpTo(
  count: number,
  lineAt: (at: number) => number | undefined,
  line: number,
): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lineAt(middle) ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}
