/**
 * Watching what another process appends to a real file; and that watching leaves nothing behind.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { EntryEvent } from "@branchlog/core/live";
import { live } from "@branchlog/core/live";
import { startAppending } from "../../faults/appending-processes.ts";
import { runs } from "../../support/fault-seed.ts";
import { rawLog } from "../../support/raw-log.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { say, seen, turns, values } from "./support.ts";

const turnCount = runs(200, 1000);

async function newLog(): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  await (await createSession(path)).append(say("first"));
  return path;
}

function countOf(resource: RegExp): number {
  return process.getActiveResourcesInfo().filter((name) => resource.test(name)).length;
}

/** Checks that nothing watches or waits any more than at the call; timers of others may end. */
function expectNothingLeft(): () => void {
  const [watchers, timers] = [countOf(/FSEvent/u), countOf(/Timeout/u)];
  return () => {
    expect(countOf(/FSEvent/u)).toBe(watchers);
    expect(countOf(/Timeout/u)).toBeLessThanOrEqual(timers);
  };
}

describe("a session that another process appends to", () => {
  it(`is seen completely and in order: ${turnCount} turns (Verifies: P14, P15)`, async () => {
    const path = await newLog();
    const nothingIsLeft = expectNothingLeft();
    const session = await openSession(path, { access: "read" });
    const events: EntryEvent[] = [];
    const entries = live(session)
      .entries$()
      .subscribe((event) => events.push(event));
    const shown = [seen(live(session).leaf$), seen(live(session).name$)];
    const context = seen(live(session).context$);
    expect(countOf(/FSEvent/u)).toBe(1);
    const writer = startAppending(path, "writer", { count: turnCount, batch: 2 });
    expect(await writer.ended).toBe(0);
    await live(session).waitFor({ revision: 1 + 2 * turnCount });
    // On a busy machine, bodies come later than the revision that they belong to.
    while (events.length < 1 + 2 * turnCount) await turns(1);
    await turns(20);

    const ids = rawLog(readFileSync(path)).entries.map(({ id }) => id);
    expect(events.map((event) => (event.kind === "entry" ? event.entry.id : event.kind))).toEqual(
      ids,
    );
    const fresh = await openSession(path, { access: "read" });
    expect([session.leaf, values(shown[0] ?? seen(live(session).leaf$)).at(-1)]).toEqual([
      fresh.leaf,
      fresh.leaf,
    ]);
    const { messages, ...rest } = await fresh.context();
    const { messages: list, ...own } = context.items.at(-1)?.value ?? expect.fail("no context");
    expect([[...list], own]).toEqual([messages, rest]);
    expect(session.tips()).toEqual(fresh.tips());

    entries.unsubscribe();
    context.unsubscribe();
    for (const one of shown) one.unsubscribe();
    await turns();
    nothingIsLeft();
  });
});
