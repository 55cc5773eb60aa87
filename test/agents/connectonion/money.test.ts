/** Costs are added as Python adds them: rounded to four places each time, halves to even. */
import { expect, it } from "vitest";
import * as fc from "fast-check";
import {
  addedCost,
  roundedCost,
} from "../../../packages/agents/src/connectonion/costs-and-times.ts";
import { askPython, pythonWithYaml, withoutPython } from "../../support/python-yaml.ts";

it.each([
  [0.03125, 0.0312],
  [0.09375, 0.0938],
  [0.00005, 0.0001],
  [0.000025, 0],
  [2.67499999, 2.675],
  [123_456_789.123_456, 123_456_789.1235],
  [1e300, 1e300],
])("rounds %d to %d", (cost, rounded) => {
  expect(roundedCost(cost)).toBe(rounded);
});

it("adds up the turns of the format's example", () => {
  expect([0.0152, 0.0371, 0.0289].reduce(addedCost, 0)).toBe(0.0812);
});

it.skipIf(pythonWithYaml === undefined)(`rounds as Python does${withoutPython}`, () => {
  const eighths = fc.nat(1_000_000).map((value) => value / 32);
  const costs = fc.sample(fc.oneof(eighths, fc.double({ min: 0, max: 100, noNaN: true })), {
    numRuns: 1000,
    seed: 3,
  });
  expect(costs.map(roundedCost)).toEqual(askPython("rounded", costs));
});
