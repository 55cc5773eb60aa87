/**
 * Reading on that fails in the midst of a log: the next refresh continues where that one ended.
 * Lines that are long and in no usual form are read a second time for what they are, which can fail
 * when lines before them were taken in.
 */
import { expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { verifySession } from "@branchlog/tools";
import { sessionOver } from "../../support/engine-session.ts";
import { failEveryCall, failingFileSystem } from "../../support/failing-calls.ts";
import { thrownBy } from "../../support/typed-errors.ts";
import { appendTo } from "../../support/append-to.ts";

const path = "/s.jsonl";
const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}\n';
const options = { lineBytesMax: 200, checkpointEveryBytes: 1 };

/** An entry whose type comes last, which no agent writes. */
const entry = (id: string, data: string): string =>
  `{"id":"${id}","data":"${data}","parentId":null,"customType":"c","type":"custom"}\n`;

function facts({ index, diagnostics, log }: Engine): unknown {
  const { lines } = log.state.indexer;
  const rows = Array.from({ length: index.count }, (_, row) => [
    index.idOf(row),
    index.rows.offset(row),
    lines.lineOfRow(row),
  ]);
  return { rows, diagnostics, generation: log.generation, end: log.end };
}

/** Whether opening took the checkpoint up: then it parses the header, and nothing else. */
function isTakenUp(fs: MemoryFileSystem): boolean {
  decodeCounter.parses = 0;
  Engine.openSync(path, { ports: createMemoryPorts({ fs }), access: "read", ...options });
  return decodeCounter.parses === 1;
}

it.each([
  ["within one read", 1_000],
  ["over several reads", 600_000],
])(
  "a failed read processes each line once, with a long record %s (Verifies: P12, P21)",
  async (_what, length) => {
    const added = entry("a", "x") + entry("b", "y".repeat(length)) + entry("c", "z");
    const calls = await failEveryCall(async (n) => {
      const memory = new MemoryFileSystem();
      memory.writeFileSync(path, Buffer.from(header + entry("first", "x")));
      const failing = failingFileSystem(memory);
      const ports = createMemoryPorts({ fs: failing.fs });
      const engine = Engine.openSync(path, { ports, ...options });
      appendTo(memory, path, added);
      failing.arm(n, { concerns: ({ name }) => name === "readSync", code: "EIO" });
      const error = thrownBy(() => engine.refreshSync());
      const hasFailed = failing.disarm();
      if (hasFailed) expect(error).toMatchObject({ code: "ERR_LOG_UNREADABLE" });
      engine.checkpoints.saveSync();
      appendTo(memory, path, entry("d", "x"));
      engine.refreshSync();
      const anew = Engine.openSync(path, { ports, ...options, checkpoint: "off" });
      expect(facts(engine)).toEqual(facts(anew));
      engine.checkpoints.saveSync();
      expect(isTakenUp(memory)).toBe(true);
      expect(await verifySession(sessionOver(engine))).toMatchObject({ ok: true, entries: 5 });
      return hasFailed;
    });
    // The two that tell whether it is the same log, the new lines, and the long record again.
    expect(calls).toBeGreaterThanOrEqual(4);
  },
);
