/** The live list of a directory, whatever any program does to the files in it. */
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ManualClock, MemoryHints } from "@branchlog/core/testing";
import { readSessionFacts } from "../catalog/read-facts.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { turns } from "../../core/live/support.ts";
import { Watching } from "../../core/live/watched-directory.ts";

const line = (n: number): string =>
  `{"type":"message","id":"${n}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z",` +
  `"message":{"role":"user","content":"text ${n}","timestamp":${n + 1}}}`;
const header = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z"}\n';

/** What any program may do to a file; `n` makes it different each time. */
const edits: readonly ((path: string, n: number) => void)[] = [
  (path, n) => appendFileSync(path, `${line(n)}\n`),
  (path, n) => appendFileSync(path, line(n).slice(0, n % 150)),
  (path) => appendFileSync(path, "\n"),
  (path, n) => writeFileSync(path, `${header}${line(n)}\n`),
  (path, n) => writeFileSync(path, readFileSync(path, "utf8").replaceAll("text", `t${n % 7}xt`)),
  (path, n) => truncateSync(path, Math.max(0, readFileSync(path).length - (n % 40))),
  (path) => rmSync(path),
];

it("the final list equals a fresh read of the files", { timeout: 60_000 }, async () => {
  const step = fc.tuple(fc.nat(edits.length - 1), fc.nat(2), fc.nat(1000), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const directory = temporaryDirectory();
      const ports = { hints: new MemoryHints(), clock: new ManualClock(Date.now()) };
      const watching = new Watching(directory, { pollMs: 1000, ports });
      for (const [edit, file, n, isSeen] of steps) {
        const path = join(directory, `${file}.jsonl`);
        appendFileSync(path, "");
        edits[edit]?.(path, n);
        if (isSeen) ports.hints.tell(path);
        await turns(n % 4);
      }
      writeFileSync(join(directory, "last.jsonl"), header);
      ports.clock.advance(1000);
      const list = await watching.until(({ sessions }) =>
        sessions.some(({ path }) => path.endsWith("last.jsonl")),
      );
      for (const file of ["0", "1", "2", "last"]) {
        const path = join(directory, `${file}.jsonl`);
        const facts = await readSessionFacts(path).catch(() => undefined);
        const { name, summary } = list.sessions.find((one) => one.path === path) ?? {};
        expect([name, summary]).toEqual([facts?.name, facts?.summary]);
      }
      expect(new Set(watching.replayed().values())).toEqual(new Set(list.sessions));
      watching.end();
    }),
    { numRuns: 100 },
  );
});
