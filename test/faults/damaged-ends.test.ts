/** Logs that end in masses of debris or damage: each line is read a few times, not each time. */
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import {
  MemoryFileSystem,
  createMemoryPorts,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { managersWith } from "@branchlog/agents/testing";
import type { Ports } from "@branchlog/core/testing";
import { runs } from "../support/fault-seed.ts";
import { BlockingSession } from "../support/blocking-session.ts";
import { tornEntry } from "../support/torn-entry.ts";

const header = JSON.stringify(sampleHeader());
const path = "/s.jsonl";

const line = (id: string, parentId: string | null): string =>
  JSON.stringify(userEntry(id, parentId, id));

const count = runs(3_000, 20_000);
const each = (make: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Ends of a log after the entry `a`; `good`: how many entries are among them. */
const ends: readonly (readonly [name: string, good: number, lines: readonly string[]])[] = [
  ["fragments", 0, each((i) => tornEntry(`d${i}`, "a").slice(0, 40))],
  ["NUL bytes", 0, each(() => "\0\0\0")],
  ["damaged tips", 0, each((i) => tornEntry(`d${i}`, "a"))],
  ["damaged entries, each below the one before", 0, each((i) => tornEntry(`d${i}`, `d${i - 1}`))],
  ["damaged entries, each above the one before", 0, each((i) => tornEntry(`d${i}`, `d${i + 1}`))],
  [
    "damaged parents of children before them",
    count,
    [...each((i) => line(`c${i}`, `d${i}`)), ...each((i) => tornEntry(`d${i}`, "a"))],
  ],
  ["damaged entries with one id", 0, each(() => tornEntry("d", "a"))],
  ["damaged entries with the id of the one before the end", 0, each(() => tornEntry("a", null))],
];

function logOf(lines: readonly string[]): { readonly ports: Ports; readonly reads: () => number } {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, Buffer.from([header, line("a", null), ...lines, ""].join("\n")));
  let reads = 0;
  fs.onCall = ({ name }) => {
    if (name === "readSync") reads += 1;
    return undefined;
  };
  return { ports: createMemoryPorts({ fs }), reads: () => reads };
}

describe(`a log that ends in ${count}`, () => {
  it.each(ends)("%s opens with a few reads and parses for each (Verifies: P10, P18)", (...end) => {
    const [, good, lines] = end;
    const { ports, reads } = logOf(lines);
    const before = decodeCounter.parses;
    const session = BlockingSession.open(path, { ports });
    expect(decodeCounter.parses - before).toBeLessThan(2 * lines.length + 10);
    expect(reads()).toBeLessThan(2 * lines.length + 20);
    expect(session.tail).toBe(good === 0 ? "a" : `c${good - 1}`);
    expect(session.entries()).toHaveLength(good + 1);

    const readsBefore = reads();
    const [result] = session.append({ draft: { type: "custom", customType: "after" } });
    expect(reads() - readsBefore).toBeLessThan(10);
    expect(result?.parentId).toBe(good === 0 ? "a" : `c${good - 1}`);
    expect(session.tail).toBe(result?.id);
  });
});

it("the tree of the pi drop-in costs no more for a chain of damaged entries", () => {
  const below = each((i) => line(`c${i}`, `d${count - 1}`));
  const { ports } = logOf([
    ...each((i) => tornEntry(`d${i}`, i === 0 ? "a" : `d${i - 1}`)),
    ...below,
  ]);
  const manager = managersWith({ ports }).open(path);
  // What resembles an entry is found to be damaged when it is read.
  expect(JSON.stringify(manager.getEntries()).length).toBeGreaterThan(count);
  // One walk per entry through all the damage would outlast the patience of the test.
  expect(manager.getTree()).toMatchObject([{ entry: { id: "a" } }]);
  expect(manager.getTree()[0]?.children).toHaveLength(count);
});
