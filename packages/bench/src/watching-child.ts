/**
 * A process that watches a session: says "ready", then, for each entry that comes, how long after
 * it was written it was told. Started by cases/live.ts only.
 */
import { readFileSync, watch } from "node:fs";
import { argv, exit, hrtime } from "node:process";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";

const [path = "", count = "", way = ""] = argv.slice(2);
const latenciesMs: number[] = [];

/** Takes the time of an entry, which is that of a clock that all processes share. */
function seen(data: unknown): void {
  if (typeof data !== "string") return;
  latenciesMs.push(Number(hrtime.bigint() - BigInt(data)) / 1e6);
  if (latenciesMs.length === Number(count)) process.send?.(latenciesMs, undefined, undefined, end);
}

function end(): void {
  exit(0);
}

if (way === "session") {
  const session = await openSession(path, { access: "read" });
  live(session)
    .entries$()
    .subscribe((event) => {
      if (event.kind === "entry" && event.entry.type === "custom") seen(event.entry.data);
    });
} else {
  // What an agent without an engine does: read the file again whenever it changes.
  let known = 0;
  watch(path, () => {
    const lines = readFileSync(path, "utf8").split("\n").slice(1, -1);
    for (const line of lines.slice(known)) seen((JSON.parse(line) as { data?: unknown }).data);
    known = lines.length;
  });
}
process.send?.("ready");
