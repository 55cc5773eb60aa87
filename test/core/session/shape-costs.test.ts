/**
 * What unusual shapes cost, by counters: nothing becomes quadratic in a long chain, below an entry
 * with very many children, or with long ids.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import { openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { nodePorts } from "@branchlog/core/testing";
import { writeSessionFile } from "@branchlog/bench/generator";
import type { GeneratorOptions } from "@branchlog/bench/generator";
import { countNodes } from "../../../packages/bench/src/plain-session.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { runs } from "../../support/fault-seed.ts";

const shapes: readonly (readonly [string, GeneratorOptions])[] = [
  ["a chain", { shape: "chain" }],
  ["very many children of one entry", { shape: "fan-out" }],
  ["ids of 21 characters", { shape: "chain", idStyle: "nanoid" }],
  ["ids of 72 characters", { shape: "chain", idStyle: "long" }],
];

let calls = 0;
const fs = observedFileSystem(nodePorts.fs, (_call, effect) => {
  calls += 1;
  return effect();
});

function reset(): void {
  [readCounter.bytes, decodeCounter.parses, calls] = [0, 0, 0];
}

describe.each(shapes)("%s", (_name, options) => {
  it.each([1_000, runs(8_000, 32_000)])(
    "is opened, told and shown in linear cost: %i entries",
    async (entries) => {
      const path = join(temporaryDirectory(), "session.jsonl");
      const { contextMessages, tips } = writeSessionFile(path, { ...options, entries });
      const { size } = statSync(path);

      reset();
      const session = await openSession(path, { access: "read", checkpoint: "off", ports: { fs } });
      // Every entry that may be a leaf is read once more, and confirmed.
      expect(readCounter.bytes).toBeLessThanOrEqual(2 * size + 65_536);
      expect(decodeCounter.parses).toBeLessThanOrEqual(tips + 2);
      expect(calls).toBeLessThanOrEqual(20 + size / 65_536 + tips);

      reset();
      expect((await session.context()).messages).toHaveLength(contextMessages);
      // Each message once; those that lie close together are read together.
      expect(decodeCounter.parses).toBeLessThanOrEqual(contextMessages);
      expect(readCounter.bytes).toBeLessThanOrEqual(2 * size);
      expect(calls).toBeLessThanOrEqual(20 + contextMessages);

      const manager = SessionManager.open(path);
      reset();
      expect(countNodes(manager.getTree())).toBe(entries);
      // Each line once, to see that it is JSON; then bodies are read when they are used.
      expect(decodeCounter.parses).toBeLessThanOrEqual(entries);
      expect(readCounter.bytes).toBeLessThanOrEqual(2 * size);
      reset();
      expect(countNodes(manager.getTree())).toBe(entries);
      expect([decodeCounter.parses, readCounter.bytes]).toEqual([0, 0]);
    },
  );
});
