/** Micro cases are checked too. */
import { describe, expect, it } from "vitest";
import { timeOperation } from "../../packages/bench/src/harness.ts";

const quick = { secondsMax: 0.1 };

describe("a micro case", () => {
  it("measures the time of one call", () => {
    let calls = 0;
    const time = timeOperation(
      () => {
        calls += 1;
        const end = performance.now() + 2;
        while (performance.now() < end);
      },
      { ...quick, check: () => expect(calls).toBeGreaterThan(0) },
    );
    expect(time.microseconds).toBeGreaterThanOrEqual(2_000);
    expect(time.samples).toBeGreaterThanOrEqual(10);
    expect(calls).toBeGreaterThan(10);
  });

  it("fails if its check fails, before or after the measurement", () => {
    let calls = 0;
    const count = (): void => void (calls += 1);
    const check = (): void => {
      if (calls !== 1) throw new Error(`wrong after ${calls} calls`);
    };
    expect(() => timeOperation(() => {}, { ...quick, check })).toThrow("wrong after 0 calls");
    expect(() => timeOperation(count, { ...quick, check })).toThrow(/wrong after \d+ calls/);
  });

  it("fails if the operation throws later on", () => {
    let calls = 0;
    const operation = (): void => {
      calls += 1;
      if (calls > 5) throw new TypeError("call six");
    };
    expect(() => timeOperation(operation, { ...quick, check: () => {} })).toThrow("call six");
  });
});
