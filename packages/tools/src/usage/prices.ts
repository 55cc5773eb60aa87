/**
 * Prices of models, as data: list prices without discounts and surcharges, in US dollars per
 * million tokens. A module and not a file of JSON, which Node 20 loads with a warning only.
 */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Kept for 5 minutes; 0 where writing to a cache is not charged. */
  readonly cacheWrite: number;
  /** Kept for an hour. */
  readonly cacheWriteHour: number;
}

export interface PriceTable {
  /** When the prices were looked up, as a date. */
  readonly date: string;
  readonly sources: readonly string[];
  /** By the model's id, without the date of a version. */
  readonly models: ReadonlyMap<string, ModelPrice>;
}

/** Anthropic's prices of writing to a cache are multiples of those of input. */
function anthropic(input: number, output: number, cacheRead: number = input / 10): ModelPrice {
  return { input, output, cacheRead, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
}

function openai(input: number, output: number): ModelPrice {
  return { input, output, cacheRead: input / 10, cacheWrite: 0, cacheWriteHour: 0 };
}

/** Without models whose price depends on the length of each prompt. */
export const priceTable: PriceTable = {
  date: "2026-11-28",
  sources: [
    "https://platform.claude.com/docs/en/about-claude/pricing",
    "https://developers.openai.com/api/docs/pricing",
  ],
  models: new Map([
    ["claude-fable-5", anthropic(10, 50)],
    ["claude-fable-5-1", anthropic(10, 50, 0.25)],
    ["claude-opus-5-5", anthropic(4, 20, 0.2)],
    ["claude-opus-5", anthropic(5, 25)],
    ["claude-opus-4-8", anthropic(5, 25)],
    ["claude-opus-4-7", anthropic(5, 25)],
    ["claude-opus-4-6", anthropic(5, 25)],
    ["claude-opus-4-5", anthropic(5, 25)],
    ["claude-opus-4-1", anthropic(15, 75)],
    ["claude-opus-4", anthropic(15, 75)],
    ["claude-sonnet-5-5", anthropic(2, 10, 0.1)],
    ["claude-sonnet-5", anthropic(2, 10)],
    ["claude-sonnet-4-6", anthropic(3, 15)],
    ["claude-sonnet-4-5", anthropic(3, 15)],
    ["claude-sonnet-4", anthropic(3, 15)],
    ["claude-3-7-sonnet", anthropic(3, 15)],
    ["claude-haiku-4-5", anthropic(1, 5)],
    ["claude-3-5-haiku", anthropic(0.8, 4)],
    ["gpt-5.5", openai(5, 30)],
    ["gpt-5.4", openai(2.5, 15)],
    ["gpt-5.4-mini", openai(0.75, 4.5)],
    ["gpt-5.4-nano", openai(0.2, 1.25)],
    ["gpt-5.3-codex", openai(1.75, 14)],
    ["gpt-5.2", openai(1.75, 14)],
    ["gpt-5.2-codex", openai(1.75, 14)],
    ["gpt-5.1", openai(1.25, 10)],
    ["gpt-5.1-codex", openai(1.25, 10)],
    ["gpt-5.1-codex-max", openai(1.25, 10)],
    ["gpt-5", openai(1.25, 10)],
    ["gpt-5-codex", openai(1.25, 10)],
    ["gpt-5-mini", openai(0.25, 2)],
  ]),
};
