/** The bars of the chart of costs. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { dayStacks } from "../../../packages/web/src/page/model/day-stacks.ts";

it("the bars of a day have the sum of its models, with any grouping", () => {
  const model = fc.constantFrom("p/a", "q/a", "p/b", "p/c", "p/d", "p/e", "p/f", "p/g", "");
  const models = fc.dictionary(model, fc.integer({ min: 1, max: 1000 }));
  const dayNumbers = fc.uniqueArray(fc.nat(400), { maxLength: 12 });
  fc.assert(
    fc.property(dayNumbers, fc.array(models, { minLength: 12, maxLength: 12 }), (numbers, all) => {
      const days = numbers
        .toSorted((one, other) => one - other)
        .map((number, at) => ({
          day: new Date(number * 86_400_000).toISOString().slice(0, 10),
          models: all[at] ?? {},
        }));
      const stacks = dayStacks(days);
      expect(stacks.models.length).toBeLessThanOrEqual(6);
      const sums = Object.fromEntries(
        stacks.days.map((day, at) => [
          day,
          stacks.models.reduce((sum, { costs }) => sum + (costs[at] ?? 0), 0),
        ]),
      );
      for (const { day, models: own } of days) {
        expect(sums[day]).toBe(Object.values(own).reduce((sum, cost) => sum + cost, 0));
      }
    }),
  );
});

it("days without costs have a bar, unless damaged times are centuries apart", () => {
  const day = (name: string): { day: string; models: object } => ({ day: name, models: {} });
  const near = ["2026-01-30", "2026-02-02"].map(day) as Parameters<typeof dayStacks>[0];
  expect(dayStacks(near).days).toEqual(["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]);
  const far = ["0001-01-01", "9999-12-31"].map(day) as Parameters<typeof dayStacks>[0];
  expect(dayStacks(far).days).toEqual(["0001-01-01", "9999-12-31"]);
});
