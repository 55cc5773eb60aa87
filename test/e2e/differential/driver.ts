/**
 * A process that carries out scripts with one implementation of pi's session layer: its arguments
 * are the URL of the module and the differences to keep out of the way of. The time is that of the
 * script.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report, Script } from "./operation.ts";
import { Run } from "./run.ts";
import type { SessionModule } from "./session-port.ts";
import type { Tolerated } from "./tolerated.ts";

const clock = { nowMs: 0 };

/** A date that does not know the real time. */
class ScriptDate extends Date {
  constructor(...parts: readonly unknown[]) {
    // A date is made from what a caller gives, or else from the time of the script.
    super(...((parts.length === 0 ? [clock.nowMs] : parts) as [number]));
  }

  static override now(): number {
    return clock.nowMs;
  }
}

async function carryOut(
  module: SessionModule,
  tolerated: readonly Tolerated[],
  script: Script,
): Promise<Report> {
  clock.nowMs = script.nowMs;
  const root = mkdtempSync(join(realpathSync(tmpdir()), "branchlog-e2e-"));
  const sessions = join(root, "sessions");
  mkdirSync(sessions);
  // Where a file that is not there is opened.
  process.chdir(root);
  process.env["HOME"] = root;
  process.env["PI_CODING_AGENT_DIR"] = join(root, "agent");
  try {
    if (script.stored !== undefined) {
      writeFileSync(join(sessions, "stored.jsonl"), script.stored.replaceAll("$ROOT", root));
    }
    const run = new Run(module, tolerated, { root, sessions }, script);
    const steps: unknown[] = [];
    for (const { operation, laterMs } of script.steps) {
      clock.nowMs += laterMs;
      steps.push({ operation, ...run.step(operation) });
    }
    // As text at once: what a list says of a file may be read only when it is used.
    return JSON.parse(JSON.stringify({ root, steps, end: await run.everything() })) as Report;
  } finally {
    process.chdir("/");
    rmSync(root, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  globalThis.Date = ScriptDate as DateConstructor;
  const [, , url = "", toleratedText = ""] = process.argv;
  // Decoding boundary: the starter of this process wrote it.
  const tolerated = JSON.parse(toleratedText) as Tolerated[];
  const module = (await import(url)) as SessionModule;
  process.on("message", (script: Script) => {
    void carryOut(module, tolerated, script).then(
      (report) => process.send?.(report),
      (error: unknown) => process.send?.({ failure: String((error as Error).stack) }),
    );
  });
  process.send?.("ready");
}

await main();
