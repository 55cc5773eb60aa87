/** A process that does one part of a case, next to the process that is measured. */
import { readFileSync, watch } from "node:fs";
import { performance } from "node:perf_hooks";
import { argv, exit, hrtime } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { openSession } from "@branchlog/core";
import { postgresStore } from "@branchlog/postgres";
import { live } from "@branchlog/core/live";
import { SessionManager } from "@branchlog/agents/pi";
import { appendMessage, inFlight } from "./our-session.ts";
import { openPool, openWay, storeUrl, type WayName, wayNames } from "./store-ways.ts";

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

  "store-append": async () => {
    const [name, count, width] = rest;
    const way = await openWay(wayNamed(name));
    // With its connections open.
    await way.read(path);
    process.once("message", () => {
      const startMs = performance.now();
      void inFlight(Number(count), Number(width), (i) => way.append(path, i, 1)).then(() =>
        end(performance.now() - startMs),
      );
    });
    process.send?.("ready");
  },

  "store-watch": async () => {
    const [name, count] = rest;
    const told: bigint[] = [];
    const seen: bigint[] = [];
    const endIfAll = (): void => {
      if (Math.min(told.length, seen.length) < Number(count)) return;
      // The event loop may take the two in any order.
      end(seen.map((at, i) => Math.max(0, Number(at - (told[i] ?? 0n)) / 1e6)));
    };
    process.on("message", (acknowledged) => {
      told.push(BigInt(String(acknowledged)));
      endIfAll();
    });
    const see = (): void => {
      seen.push(hrtime.bigint());
      endIfAll();
    };
    if (name === "ours") {
      const store = postgresStore(storeUrl(false));
      const session = await openSession({ store, id: path, access: "read" });
      live(session)
        .entries$()
        .subscribe(({ kind }) => {
          if (kind === "entry") see();
        });
      // Until the server is listened to.
      await pause(1_000);
    } else {
      const pool = await openPool(storeUrl(false), 2);
      const client = await pool.connect();
      let known = 0;
      client.on("notification", () => {
        const text = "SELECT seq, body FROM line WHERE log = $1 AND seq >= $2";
        void pool.query(text, [path, known]).then(({ rows }) => {
          known += rows.length;
          for (const _ of rows) see();
        });
      });
      await client.query("LISTEN bench");
    }
    process.send?.("ready");
  },
};

function wayNamed(name: string | undefined): WayName {
  const found = wayNames.find((one) => one === name);
  if (found === undefined) throw new RangeError(`no way ${name}`);
  return found;
}

function end(answer: unknown): void {
  process.send?.(answer, undefined, undefined, () => exit(0));
}

await jobs[job]?.();
