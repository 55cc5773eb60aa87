/** What is done with a file that a killed process had set aside. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeFileSystem } from "@branchlog/core/files";
import { fileError } from "@branchlog/core/testing";
import { archiveSessions, deleteSession, undoOperation } from "@branchlog/library";
import { planAside } from "../../../packages/library/src/archive/recover-aside.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { keptPlace, write } from "./kept-sessions.ts";
import { asideIn } from "./survivors.ts";

const names = ["free", "its own", "taken"] as const;
const places = ["moved", "kept", "only here"] as const;

describe("a file set aside", () => {
  it("is never removed when it has the only copy of its bytes, and never replaces another file", () => {
    const plans = names.map((name) => places.map((bytes) => planAside({ name, bytes })));
    expect(plans).toEqual([
      ["remove", "put back", "put back"],
      ["put back", "put back", "put back"],
      ["remove", "remove", "leave"],
    ]);
  });

  it("is restored with a name too long for a suffix, by its path alone", async () => {
    const { dataDir, pi } = keptPlace();
    const long = join(dirname(pi), `${"n".repeat(240)}.jsonl`);
    const bytes = readFileSync(pi);
    write(long, bytes);
    let isDead = false;
    const fs = observedFileSystem(nodeFileSystem, (call, effect) => {
      if (isDead) throw fileError("EIO", call.name, call.path);
      isDead = call.name === "renameSync";
      return effect();
    });
    const death = deleteSession(long, { dataDir, permanent: true, ports: { fs } });
    await expect(death).rejects.toMatchObject({ code: "ERR_DELETE_FAILED" });
    expect(asideIn(dirname(pi))).toHaveLength(1);
    await deleteSession(long, { dataDir });
    expect(asideIn(dirname(pi))).toEqual([]);
    await undoOperation(undefined, { dataDir });
    expect(readFileSync(long)).toEqual(bytes);
  });

  it("stays while another file has its name, and is in no list", async () => {
    const { dataDir, pi } = keptPlace();
    const aside = `${pi}.1.01973400-0000-7000-8000-000000000009.branchlog-aside`;
    renameSync(pi, aside);
    const bytes = readFileSync(aside);
    write(pi, "another\n");
    await archiveSessions([dirname(pi)], { dataDir });
    expect([readFileSync(aside), readFileSync(pi, "utf8")]).toEqual([bytes, "another\n"]);
  });

  it("is not touched while the process that set it aside runs, and restored after it", async () => {
    const { dataDir, pi } = keptPlace();
    const bytes = readFileSync(pi);
    const { name, end } = await runningProcess();
    const aside = `${pi}.${name}.01973400-0000-7000-8000-000000000009.branchlog-aside`;
    renameSync(pi, aside);
    await archiveSessions([dirname(pi)], { dataDir });
    expect([existsSync(pi), readFileSync(aside)]).toEqual([false, bytes]);
    await end();
    await archiveSessions([join(dirname(pi), "none.jsonl")], { dataDir }).catch(() => undefined);
    expect([readFileSync(pi), existsSync(aside)]).toEqual([bytes, false]);
  });
});

/** Another one, and how it is called. */
async function runningProcess(): Promise<{
  readonly name: string;
  readonly end: () => Promise<unknown>;
}> {
  const files = new URL("../../../packages/core/dist/files.js", import.meta.url).href;
  const code = `const { ownProcessName } = await import("${files}");
    process.stdout.write(ownProcessName());
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
  const ended = once(child, "exit");
  const given: readonly unknown[] = await once(child.stdout, "data");
  const end = (): Promise<unknown> => {
    child.stdin.end();
    return ended;
  };
  return { name: String(given[0]), end };
}
