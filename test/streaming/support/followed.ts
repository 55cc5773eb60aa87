/** Follows files in tests: what came, as values; and hints that are switched off. */
import { followFile, type FollowEvent, type FollowOptions } from "@branchlog/streaming";
import { onTestFinished } from "vitest";
import { followFileWith } from "../../../packages/streaming/src/follow-file.ts";

/** An event in a form that can be compared: a record's value, or why there is none. */
export function told(event: FollowEvent): unknown {
  if (event.kind === "reset") return event.reason;
  return event.record.ok ? event.record.value : event.record.reason;
}

/** Pulls events one by one, and ends the following with the test. */
export class Pulled {
  readonly events: AsyncGenerator<FollowEvent, void, undefined>;

  constructor(events: AsyncGenerator<FollowEvent, void, undefined>) {
    this.events = events;
    onTestFinished(async () => {
      await events.return();
    });
  }

  /** The next event. */
  async next(): Promise<FollowEvent> {
    const step = await this.events.next();
    if (step.done === true) throw new Error("the following has ended");
    return step.value;
  }

  /** The next so many events, as values. */
  async take(count: number): Promise<unknown[]> {
    const list: unknown[] = [];
    while (list.length < count) list.push(told(await this.next()));
    return list;
  }
}

/** Follows by hints: the poll would come too late for any test. */
export function followByHints(path: string, options: FollowOptions = {}): Pulled {
  return new Pulled(followFile(path, { pollMs: 1_000_000, ...options }));
}

/** Follows by the poll: no hint ever comes. */
export function followByPoll(path: string, options: FollowOptions = {}): Pulled {
  return new Pulled(followDeaf(path, options));
}

/** The same, for the one that ends it. */
export function followDeaf(path: string, options: FollowOptions = {}) {
  const deaf = () => ({ closeSync: () => undefined });
  return followFileWith(deaf, path, { pollMs: 2, ...options });
}
