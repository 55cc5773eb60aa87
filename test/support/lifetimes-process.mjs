// Opens sessions and watches them, as its first argument says; ends by itself, if all goes well.
// Usage: node --expose-gc lifetimes-process.mjs MODE FILE [CYCLES]
import { copyFileSync, readdirSync, rmSync, writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { SessionManager } from "@branchlog/agents/pi";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";

const [mode, path, cycles] = process.argv.slice(2);
const say = (facts) => writeSync(1, `${JSON.stringify(facts)}\n`);

/** What this process holds, once everything that nobody needs is gone. */
async function held() {
  for (let n = 0; n < 10; n += 1) await turn();
  // What was ended in the midst of a read ends with the read.
  while (process.getActiveResourcesInfo().includes("FSReqCallback")) await turn();
  // What is done for objects that are gone comes some turns after the collection.
  for (let n = 0; n < 4; n += 1) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  return {
    bytes: heapUsed + external,
    descriptors: readdirSync("/proc/self/fd").length,
    waiting: [...new Set(resources.filter((name) => /FSEvent|Timeout/u.test(name)))],
  };
}

/** Comes and goes in every way, so many times; samples what is held ten times. */
async function sampled(count, cycle) {
  for (let n = 0; n < count; n += 1) {
    await cycle(n);
    if ((n + 1) % (count / 10) === 0) say(await held());
  }
}

/**
 * Watches in one of the ways in which a session can be watched; returns what ends that.
 * @returns {() => any}
 */
function watch(session, n) {
  const { leaf$, tree$, context$, usage$ } = live(session);
  /** @type {import("rxjs").Observable<unknown> | undefined} */
  const observable = [leaf$, live(session).entries$(), tree$, context$, usage$][n % 6];
  if (observable === undefined) {
    const events = live(session).events();
    void events.next();
    return () => events.return();
  }
  const subscription = observable.subscribe();
  return () => subscription.unsubscribe();
}

const modes = {
  opens: () =>
    sampled(Number(cycles), async (n) => {
      const session = await openSession(path, { access: n % 2 === 0 ? "read" : "append" });
      const end = watch(session, n);
      if (n % 7 === 0) await turn();
      // Some leave, some are told that it is over, some both.
      if (n % 4 < 2) void end();
      if (n % 4 > 0) await session.close();
    }),
  managers: () =>
    sampled(Number(cycles), async (n) => {
      const copy = `${path}-${n}.jsonl`;
      copyFileSync(path, copy);
      SessionManager.open(copy).getEntries();
      rmSync(copy);
    }),
  subscribes: async () => {
    const session = await openSession(path);
    await sampled(Number(cycles), async (n) => {
      const end = watch(session, n);
      if (n % 7 === 0) await turn();
      await end();
    });
  },
  leaks: async () => {
    const all = [];
    await sampled(Number(cycles), async (n) => {
      const session = await openSession(path);
      all.push(watch(session, n));
    });
    process.exit(all.length === Number(cycles) ? 0 : 1);
  },
  opened: async () => {
    const session = await openSession(path);
    await session.append({ type: "custom", customType: "own" });
    await session.context();
    say(await held());
  },
  unsubscribe: async () => {
    const session = await openSession(path);
    const subscription = live(session)
      .entries$()
      .subscribe(({ entry }) => {
        say({ saw: entry.customType });
        if (entry.customType === "last") subscription.unsubscribe();
      });
  },
  close: async () => {
    const session = await openSession(path);
    live(session).leaf$.subscribe(({ revision }) => {
      const { customType } = session.tree().node(session.tail);
      say({ saw: customType, revision });
      if (customType === "last") void session.close();
    });
  },
  return: async () => {
    const session = await openSession(path);
    for await (const { entry } of live(session).events()) {
      say({ saw: entry.customType });
      if (entry.customType === "last") break;
    }
  },
  waits: async () => {
    const session = await openSession(path);
    say({ saw: "first" });
    await live(session).waitFor({ revision: session.revision + 3 });
    say({ saw: "last" });
  },
};
await modes[mode]();
