/** A process that does one part of a case, beside the process that is measured. */
import { readFileSync, watch } from "node:fs";
import { performance } from "node:perf_hooks";
import { argv, exit, hrtime } from "node:process";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/core/pi";
import { appendMessage, inFlight } from "./our-session.ts";

const [, , job = "", path = "", ...rest] = argv;

const jobs: Readonly<Record<string, () => Promise<unknown>>> = {
  checkpoint: async () => (await openSession(path, { checkpointEveryBytes: 1 })).close(),

  list: () => SessionManager.list(rest[0] ?? "", path),

  append: async () => {
    const [count, width] = rest;
    const session = await openSession(path);
    let longestMs = 0;
    const append = async (i: number): Promise<void> => {
      const startMs = performance.now();
      await appendMessage(session, i);
      longestMs = Math.max(longestMs, performance.now() - startMs);
    };
    process.once("message", () => {
      void inFlight(Number(count), Number(width), append).then(() => end(longestMs));
    });
    process.send?.("ready");
  },

  watch: async () => {
    const [count, way] = rest;
    const latenciesMs: number[] = [];
    // The time of an entry is on a clock that all processes share.
    const see = (data: unknown): void => {
      if (typeof data !== "string") return;
      latenciesMs.push(Number(hrtime.bigint() - BigInt(data)) / 1e6);
      if (latenciesMs.length === Number(count)) end(latenciesMs);
    };
    if (way === "session") {
      const session = await openSession(path, { access: "read" });
      live(session)
        .entries$()
        .subscribe((event) => {
          if (event.kind === "entry" && event.entry.type === "custom") see(event.entry.data);
        });
    } else {
      let known = 0;
      watch(path, () => {
        const lines = readFileSync(path, "utf8").split("\n").slice(1, -1);
        for (const line of lines.slice(known)) see((JSON.parse(line) as { data?: unknown }).data);
        known = lines.length;
      });
    }
    process.send?.("ready");
  },
};

function end(answer: unknown): void {
  process.send?.(answer, undefined, undefined, () => exit(0));
}

await jobs[job]?.();
