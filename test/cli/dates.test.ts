/** On a terminal times are ages, as in a list; a pipe has exact ones. */
import { describe, expect, it } from "vitest";
import { agoText, whenText } from "../../packages/cli/src/text/quantities.ts";
import { branchlog, fixture, MemoryOutput } from "./command-run.ts";

/** Of June 2025, seven months before the clock of these runs. */
const file = fixture("pi-branches.jsonl");

const commands: readonly (readonly string[])[] = [
  ["tree", file],
  ["context", file],
  ["entries", file],
  ["tail", file],
  ["turns", file, "--turn", "1"],
  ["search", "cache", file],
  ["search", "cache", file, "-C", "1"],
];

const exact = /\b2025-06-04[ T]\d\d:\d\d:\d\d/;

describe.each(commands)("%s", (...words) => {
  it("shows ages on a terminal", async () => {
    const out = new MemoryOutput({ isTerminal: true });
    await branchlog(words, { out });
    expect(out.text).toContain("7 months ago");
    expect(out.text).not.toMatch(exact);
  });

  it("shows exact times in a pipe", async () => {
    const { out } = await branchlog(words);
    expect(out).toMatch(exact);
    expect(out).not.toContain(" ago");
  });
});

describe("times", () => {
  it("are exact in info, with the age on a terminal", async () => {
    const out = new MemoryOutput({ isTerminal: true });
    await branchlog(["info", file], { out });
    expect(out.text).toContain("created    2025-06-04 09:00:00Z, 7 months ago\n");
    const piped = await branchlog(["info", file]);
    expect(piped.out).toContain("\ncreated\t2025-06-04T09:00:00.000Z\n");
  });

  it("are exact while tail follows, as its lines stay on the screen", async () => {
    const interrupt = new AbortController();
    const onWrite = (text: string): void => {
      if (text.includes("A second root.")) interrupt.abort();
    };
    const out = new MemoryOutput({ isTerminal: true, onWrite });
    await branchlog(["tail", file, "-f"], { out, signal: interrupt.signal });
    expect(out.text).toMatch(exact);
    expect(out.text).not.toContain(" ago");
  });

  it("of a document are as stored, since their zone is unknown", async () => {
    const out = new MemoryOutput({ isTerminal: true });
    await branchlog(["turns", fixture("connectonion-dumped.yaml"), "--turn", "2"], { out });
    expect(out.text).toContain("2026-01-05 09:01:10");
  });

  it("have ages of one width, so that columns stay aligned", () => {
    const day = 86_400_000;
    const ages = [0, 0.02, 0.3, 1, 59, 60, 365, 729, 730, 5000].map((days) => days * day);
    const widths = ages.map((age) => whenText(0, age).length);
    expect(new Set(widths)).toEqual(new Set([13]));
    expect(whenText(Number.NaN, 0).trimEnd()).toBe("no time");
    expect([agoText(5, 0), agoText(0, 5 * day)]).toEqual(["now", "5 days ago"]);
  });
});
