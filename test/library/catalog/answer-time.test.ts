/** The answer of an assistant read from the bytes of its line, against the parsed one. */
import { scanLines } from "@branchlog/streaming";
import type { ScannedAnswer } from "@branchlog/streaming";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyCase } from "../../support/law-time.ts";
import { arbitraryLines } from "./arbitrary-session.ts";
import { assistant, user } from "./session-lines.ts";

function answerIn(line: string): ScannedAnswer | undefined {
  const bytes = Buffer.from(line);
  let found: ScannedAnswer | undefined;
  scanLines(bytes, 0, bytes.length, (rows) => {
    const isAnswer = rows.kinds[rows.kind[0] ?? -1]?.role === "assistant";
    if (rows.flags[0] !== 0 && isAnswer) found = rows.answer(0);
  });
  return found;
}

const spoken = JSON.stringify(assistant([{ type: "text", text: "hi" }], 1749718821000));
const answer: ScannedAnswer = {
  timestampMs: 1749718821000,
  model: { provider: "p", id: "m" },
  input: 3,
  output: 5,
  cacheRead: 7,
  cacheWrite: 11,
  cost: 0.75,
};

describe("an answer in an assistant's line", () => {
  it("is read from a line in pi's order", () => {
    expect(answerIn(spoken)).toEqual(answer);
    expect(answerIn(`${spoken}\r`)).toEqual(answer);
  });

  it.each([
    0,
    1e-7,
    0.1 + 0.2,
    5e-324,
    1.7976931348623157e308,
    123456789012345.6,
    9007199254740994,
  ])("has the exact cost of %d dollars", (dollars) => {
    const line = spoken.replace('"total":0.75', `"total":${JSON.stringify(dollars)}`);
    expect(answerIn(line)?.cost).toBe(dollars);
  });

  it("has the model of its line, whatever was read before", () => {
    const other = spoken.replace('"model":"m"', '"model":"m-2"');
    const reseller = spoken.replace('"provider":"p"', '"provider":"pp"');
    const models = [spoken, other, spoken, spoken, reseller].map((line) => answerIn(line)?.model);
    expect(models.map((model) => `${model?.provider}/${model?.id}`)).toEqual([
      "p/m",
      "p/m-2",
      "p/m",
      "p/m",
      "pp/m",
    ]);
    expect(models[0]).toBe(models[3]);
  });

  it.each([
    ["another role", JSON.stringify(user([], 1749718821000))],
    ["a key after the timestamp", spoken.replace("000}}", '000,"errorMessage":"x"}}')],
    ["no stopReason before it", spoken.replace('"stopReason":"stop",', "")],
    ["another key before it", spoken.replace("stopReason", "responseId")],
    ["a fraction", spoken.replace("1749718821000", "174971882100.5")],
    ["a negative number", spoken.replace("1749718821000", "-1749718821000")],
    ["an exponent", spoken.replace("1749718821000", "17e11")],
    ["a string", spoken.replace("1749718821000", '"2025"')],
    ["a leading zero", spoken.replace("1749718821000", "0749718821000")],
    ["more digits than are exact", spoken.replace("1749718821000", "1749718821000123456")],
    ["no content", spoken.replace(/"content":\[.*?\],/u, "")],
    ["content that is not an array", spoken.replace(/"content":\[.*?\],/u, '"content":"hi",')],
    ["a space before the number", spoken.replace("1749718821000", " 1749718821000")],
    ["no usage", spoken.replace(/"usage":\{.*?\}\},/u, "")],
    ["no model", spoken.replace('"model":"m",', "")],
    ["a model with an escape", spoken.replace('"model":"m"', '"model":"\\u006d"')],
    ["other keys first in the usage", spoken.replace('"input":3', '"requests":1,"input":3')],
    ["a count that is not an integer", spoken.replace('"output":5', '"output":5.5')],
    ["a count that is not a number", spoken.replace('"output":5', '"output":"5"')],
    ["a cost that is not a number", spoken.replace('"total":0.75', '"total":null')],
    ["a cost behind others", spoken.replace('"total":0.75', '"total":0.75,"more":1')],
    ["an object behind the cost", spoken.replace("0.75}}", '0.75},"more":{"total":1}}')],
  ])("is left to the parser with %s", (_what, line) => {
    expect(line).not.toBe(spoken);
    expect(answerIn(line)).toBeUndefined();
  });

  it("is that of the parsed message wherever it is read, for every line", () => {
    let read = 0;
    fc.assert(
      fc.property(arbitraryLines, (lines) => {
        for (const line of lines) {
          const found = answerIn(line);
          if (found === undefined) continue;
          read += 1;
          // Only lines that were written by JSON.stringify as messages get here.
          const parsed = JSON.parse(line) as { message: Record<string, unknown> };
          const { timestampMs, model, cost, ...tokens } = found;
          const said = { role: "assistant", provider: model.provider, model: model.id };
          const usage = { ...tokens, cost: { total: cost } };
          expect(parsed.message).toMatchObject({ ...said, usage, timestamp: timestampMs });
          expect(parsed.message).toHaveProperty("content");
        }
      }),
      { numRuns: 1000, ...everyCase },
    );
    expect(read).toBeGreaterThan(20);
  });
});
