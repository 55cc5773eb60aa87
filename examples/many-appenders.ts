/**
 * Several processes append to one session at the same time. Each entry is in the log once, and what
 * is written together stays together.
 *
 * Prints:
 *   4 processes, 200 entries, 0 lost, 0 torn apart
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, openSession } from "branchlog";

const [, example = "", path, name = ""] = process.argv;
if (path === undefined) await startAll();
else await append(path);

async function startAll(): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), "branchlog-example-")), "session.jsonl");
  await createSession(file, { cwd: process.cwd() });
  const writers = ["one", "two", "three", "four"].map((writer) =>
    spawn(process.execPath, [...process.execArgv, example, file, writer], { stdio: "inherit" }),
  );
  await Promise.all(writers.map((writer) => once(writer, "exit")));

  const session = await openSession(file, { access: "read" });
  const found: string[] = [];
  for await (const { id } of session.entries()) found.push(id);
  const wanted = ["one", "two", "three", "four"].flatMap((writer) =>
    Array.from({ length: 25 }, (_, n) => ({ a: `${writer}-${n}-a`, b: `${writer}-${n}-b` })),
  );
  const lost = wanted.flatMap(({ a, b }) => [a, b]).filter((id) => !found.includes(id)).length;
  const torn = wanted.filter(({ a, b }) => found.indexOf(b) !== found.indexOf(a) + 1).length;
  console.log(
    `${writers.length} processes, ${found.length} entries, ${lost} lost, ${torn} torn apart`,
  );
}

async function append(file: string): Promise<void> {
  const session = await openSession(file);
  for (let n = 0; n < 25; n += 1) {
    const first = session.append({ type: "custom", customType: name }, { id: `${name}-${n}-a` });
    // Asked for in the same turn: written together, as one.
    const second = session.append({ type: "custom", customType: name }, { id: `${name}-${n}-b` });
    await Promise.all([first, second]);
  }
  await session.close();
}
