/** Usage of transcripts, which count tokens only. Pure. */
import type { Usage } from "./message-types.ts";

export const noUsage: Usage = usageOf(0, 0, 0, 0);

/** Combines each count of two usages. */
export function usageOfBoth(
  one: Usage,
  other: Usage,
  count: (one: number, other: number) => number,
): Usage {
  const of = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    count(one[key], other[key]);
  return usageOf(of("input"), of("output"), of("cacheRead"), of("cacheWrite"));
}

/** What an answer spent. */
export interface AnswerUsage {
  readonly model: string;
  readonly usage: Usage;
}

/**
 * With one more of its parts, which repeat and increase the usage. If another model took over, the
 * part with the most output has the usage of the answer.
 */
export function withPart(before: AnswerUsage | undefined, part: AnswerUsage): AnswerUsage {
  if (before === undefined) return part;
  const { model } = before;
  if (model === part.model)
    return { model, usage: usageOfBoth(before.usage, part.usage, Math.max) };
  return part.usage.output > before.usage.output ? part : before;
}

/** Without costs. */
export function usageOf(
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, cost };
}
