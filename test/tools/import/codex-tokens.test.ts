/**
 * Tokens of Codex: determined by lines that are anywhere among those of the request that they are
 * of.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionTurns } from "@branchlog/agents/connectonion";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { codexItem, codexMessage, codexRecord, importedFile, sourceOf } from "./imported.ts";

const meta = codexRecord("session_meta", { id: "s1", cwd: "/w" });
const answered = (text: string): object => codexMessage(text, "assistant");
const called = (id: string): readonly object[] => [
  codexItem("function_call", { name: "ls", arguments: "{}", call_id: id }),
  codexItem("function_call_output", { call_id: id, output: "x" }),
];

/** The counts of tokens of requests, each with the total so far. */
function countsOf(outputs: readonly number[]): object[] {
  let total = 0;
  return outputs.map((output) => {
    total += 100 + output;
    const last = { input_tokens: 100, cached_input_tokens: 40, output_tokens: output };
    const info = { last_token_usage: last, total_token_usage: { total_tokens: total } };
    return codexRecord("event_msg", { type: "token_count", info });
  });
}

/** In place, and in a copy. */
async function tokensOf(lines: readonly object[]): Promise<object> {
  const source = sourceOf(lines);
  const inPlace = await tokensIn(await openSession(source, { access: "read" }));
  expect(await tokensIn((await importedFile(source)).session)).toEqual(inPlace);
  return inPlace;
}

async function tokensIn(session: Session): Promise<object> {
  const turns = await sessionTurns(session);
  const { total, byModel } = await session.usage;
  const models = [...byModel].flatMap(([, ofProvider]) =>
    [...ofProvider].map(([model, totals]) => [model, totals]),
  );
  return {
    usage: total,
    models,
    turns: turns.map((turn) => [turn.tokens, turn.cache_read_tokens]),
  };
}

/** The lines with the counts after so many of them each, in order. */
function placed(lines: readonly object[], counts: readonly object[], places: number[]): object[] {
  const behind = places.map((place) => place % (lines.length + 1)).sort((a, b) => a - b);
  return Array.from({ length: lines.length + 1 }, (_, at) => [
    ...counts.filter((_count, i) => behind[i] === at),
    ...lines.slice(at, at + 1),
  ]).flat();
}

describe("the tokens of a rollout of Codex", () => {
  it("are those of the turn when their line comes before an answer, in it, or after a result", async () => {
    const lines = [answered("a"), ...called("c"), answered("b")];
    const [count = meta] = countsOf([7]);
    for (let at = 0; at <= lines.length; at += 1) {
      const turn = placed(lines, [count], [at]);
      expect(
        await tokensOf([meta, codexMessage("Hi"), ...turn, codexMessage("Bye")]),
      ).toMatchObject({
        usage: { input: 60, output: 7, cacheRead: 40 },
        turns: [
          [67, 40],
          [0, 0],
        ],
      });
    }
  });

  it("do not change when their lines move within their turns", async () => {
    const step = fc.constantFrom<readonly object[]>([answered("a")], called("c"), called("d"));
    const turn = fc.record({
      steps: fc.array(step, { maxLength: 4 }),
      counts: fc.array(
        fc.record({
          output: fc.integer({ min: 1, max: 50 }),
          place: fc.nat(),
          other: fc.nat(),
        }),
        { maxLength: 4 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        const counts = countsOf(turns.flatMap((one) => one.counts.map(({ output }) => output)));
        const [here, elsewhere]: [object[], object[]] = [[meta], [meta]];
        for (const { steps, counts: ofTurn } of turns) {
          const own = counts.splice(0, ofTurn.length);
          here.push(
            codexMessage("Hi"),
            ...placed(
              steps.flat(),
              own,
              ofTurn.map(({ place }) => place),
            ),
          );
          elsewhere.push(
            codexMessage("Hi"),
            ...placed(
              steps.flat(),
              own,
              ofTurn.map(({ other }) => other),
            ),
          );
        }
        expect(await tokensOf(elsewhere)).toEqual(await tokensOf(here));
      }),
      { numRuns: 60 },
    );
  });
});
