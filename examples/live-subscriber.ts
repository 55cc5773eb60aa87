/**
 * One process appends, this one watches: the name, where the session stands, and every entry.
 *
 * Prints:
 *   entry 1: custom
 *   entry 2: custom
 *   entry 3: session_info
 *   name: Watched
 *   tips: 1
 */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, openSession } from "branchlog";
import { live } from "branchlog/live";

const [, example = "", path] = process.argv;
if (path === undefined) await watch();
else await write(path);

async function watch(): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), "branchlog-example-")), "session.jsonl");
  await createSession(file, { cwd: process.cwd() });
  const session = await openSession(file, { access: "read" });
  let name: string | undefined;
  const names = live(session).name$.subscribe(({ value }) => (name = value));

  spawn(process.execPath, [...process.execArgv, example, file], { stdio: "inherit" });
  for await (const event of live(session).events()) {
    // A file that is replaced by another would be told as a `reset`.
    if (event.kind !== "entry") continue;
    console.log(`entry ${event.revision}: ${event.entry.type}`);
    if (event.revision === 3) break;
  }
  console.log(`name: ${name}`);
  console.log(`tips: ${session.tips().length}`);
  names.unsubscribe();
  await session.close();
}

async function write(file: string): Promise<void> {
  const session = await openSession(file);
  await session.append({ type: "custom", customType: "example", data: 1 });
  await session.append({ type: "custom", customType: "example", data: 2 });
  await session.append({ type: "session_info", name: "Watched" });
  await session.close();
}
