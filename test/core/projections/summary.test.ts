/** What a list shows of a session, with pi's rule for when it was modified. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "@branchlog/core";
import { summary } from "../../../packages/core/src/projections/summary.ts";
import { foldAll } from "./fold.ts";
import { assistant, sampleTimeMs, stored, user } from "./sample-entries.ts";

const message = (body: unknown, rest: object = {}): SessionEntry =>
  stored("message", "m", null, { message: body, ...rest });

describe("the summary of a session", () => {
  it("is empty for an empty session", () => {
    expect(foldAll(summary, [])).toEqual({
      messageCount: 0,
      firstMessage: undefined,
      lastActivityMs: undefined,
    });
  });

  it("counts messages of every role, and malformed ones", () => {
    const bodies = [{ role: "system", content: "" }, { role: "bashExecution" }, null, "text"];
    const entries = [...bodies.map((body) => message(body)), stored("custom", "c", null, {})];
    expect(foldAll(summary, entries).messageCount).toBe(4);
  });

  it("quotes the first user text that is not empty", () => {
    const text = (words: string) => ({ type: "text", text: words });
    const entries = [
      assistant("1", null, "not the user"),
      user("2", "1", ""),
      message({ role: "user", content: null }),
      message({ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }] }),
      message({ role: "user", content: [text("two"), null, text("words")] }),
      user("3", "2", "later"),
    ];
    expect(foldAll(summary, entries).firstMessage).toBe("two words");
  });

  it("dates the latest user or assistant message, not the last in the file", () => {
    const at = (role: string, timestamp: unknown) => message({ role, content: "", timestamp });
    const entries = [at("user", 3000), at("assistant", 5000), at("user", 4000)];
    const others = [at("toolResult", 9000), at("system", 9000), at("custom", 9000)];
    expect(foldAll(summary, [...entries, ...others]).lastActivityMs).toBe(5000);
  });

  it("dates a message by its entry if it has no time of its own", () => {
    const entries = [message({ role: "user", content: "" })];
    expect(foldAll(summary, entries).lastActivityMs).toBe(sampleTimeMs);
  });

  it.each([1e18, 8.64e15 + 1, -1e18, Number.POSITIVE_INFINITY, Number.NaN, "5", null])(
    "dates a message by its entry if its own time is %s",
    (timestamp) => {
      const entries = [message({ role: "user", content: "", timestamp })];
      expect(foldAll(summary, entries).lastActivityMs).toBe(sampleTimeMs);
    },
  );

  it("has a valid date for any stored times", () => {
    const time = fc.oneof(
      fc.double(),
      fc.constantFrom(8.64e15, -8.64e15, 8.640000000000001e15, 1e300),
      fc.integer(),
      fc.string(),
      fc.constant(null),
    );
    const times = fc.record({ own: time, stamp: time });
    fc.assert(
      fc.property(fc.array(times), (pairs) => {
        const entries = pairs.map(({ own, stamp }) =>
          message({ role: "assistant", content: [], timestamp: own }, { timestamp: stamp }),
        );
        const { lastActivityMs } = foldAll(summary, entries);
        const usable = pairs
          .map(({ own }) => (typeof own === "number" && own <= 8.64e15 ? own : 0))
          .filter((ms) => ms > 0);
        for (const ms of usable) expect(lastActivityMs).toBeGreaterThanOrEqual(ms);
        if (lastActivityMs === undefined) return;
        expect(lastActivityMs).toBeGreaterThan(0);
        expect(Number.isNaN(new Date(lastActivityMs).getTime())).toBe(false);
      }),
    );
  });

  it.each([
    ["without content", message({ role: "user", timestamp: 5 })],
    ["from before 1970", message({ role: "user", content: "", timestamp: -5 })],
    ["without any time", message({ role: "user", content: "" }, { timestamp: "yesterday" })],
    ["that is null", message(null)],
  ])("has no date from a message %s", (_, entry) => {
    expect(foldAll(summary, [entry]).lastActivityMs).toBeUndefined();
  });
});
