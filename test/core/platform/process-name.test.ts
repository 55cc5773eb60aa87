/** Names of processes: what is concluded from them, and what is not. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ownProcessName,
  parseStatus,
  processIdOf,
  processState,
} from "../../../packages/core/src/platform/process-name.ts";

const module = new URL("../../../packages/core/dist/platform/process-name.js", import.meta.url)
  .href;
const program = `import(${JSON.stringify(module)}).then(({ ownProcessName }) => {
  process.stdout.write(ownProcessName() + "\\n");
  process.stdin.resume();
});`;
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Another process that says its name and then waits. */
async function startNamed(): Promise<{ child: ChildProcess; name: string }> {
  const child = spawn(process.execPath, ["-e", program], { stdio: "pipe", cwd: root });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  return { child, name: text.toString().trim() };
}

/** Blocks this thread, so that Node cannot wait for a child that was killed. */
function blockUntil(isOver: () => boolean): void {
  while (!isOver()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

describe.runIf(process.platform === "linux")("the name of a process", () => {
  it("reports it as running until it has been killed", async () => {
    const { child, name } = await startNamed();
    expect(processIdOf(name)).toBe(child.pid);
    expect(processState(name)).toBe("running");
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    expect(processState(name)).toBe("ended");
  });

  it("reports it as ended while its parent has not waited for it, as a blocked parent cannot", async () => {
    const { child, name } = await startNamed();
    child.kill("SIGKILL");
    const stat = `/proc/${String(child.pid)}/stat`;
    // A zombie whose other threads are still ending counts as running.
    blockUntil(() => processState(name) === "ended");
    expect(readFileSync(stat, "latin1")).toMatch(/\) [ZX] /);
  });

  it("reports a stopped process as running", async () => {
    const { child, name } = await startNamed();
    child.kill("SIGSTOP");
    blockUntil(() => readFileSync(`/proc/${String(child.pid)}/stat`, "latin1").includes(") T "));
    expect(processState(name)).toBe("running");
  });

  it("reports it as ended when another process has its id", () => {
    const name = ownProcessName();
    expect(processState(name)).toBe("running");
    expect(processState(name.replace(/\.\d+\./, ".1."))).toBe("ended");
  });

  it("reports unknown for a process of another boot or container", () => {
    const foreign = ownProcessName().replace(/[0-9a-f]{32}$/, "0".repeat(32));
    expect(processState(foreign)).toBe("unknown");
    expect(processState(foreign.replace(/^\d+/, "4194304"))).toBe("unknown");
  });

  it("fits into the inode of a link, and is stable", () => {
    const longest = ownProcessName().replace(/^\d+\.\d+/, "4194304.99999999999");
    expect(longest.length).toBeLessThan(60);
    expect(ownProcessName()).toBe(ownProcessName());
  });
});

const unshare = ["--user", "--map-current-user", "--pid", "--fork", "--kill-child"];
const canUnshare = spawnSync("unshare", [...unshare, "true"]).status === 0;

describe.skipIf(!canUnshare)("the name of a process in a container", () => {
  it.each([
    ["with the processes of its host in /proc", [], /^\d+$/],
    ["with a /proc of its own", ["--mount-proc"], /^1\.\d+\.[0-9a-f]{32}$/],
  ])("is unknown outside, %s", (_, options, form) => {
    const command = [...unshare, ...options, process.execPath, "-e", program];
    const { stdout } = spawnSync("unshare", command, { cwd: root, input: "", encoding: "utf8" });
    const name = stdout.trim();
    expect(name).toMatch(form);
    expect(processState(name)).toBe("unknown");
  });
});

it.each(["", "0", "-1", "elsewhere", "1.2", "1.2.3", "01", "1e3", "12345678901"])(
  "a text that is not a name has no process: %j",
  (text) => {
    expect(processIdOf(text)).toBeNull();
    expect(processState(text)).toBe("unknown");
  },
);

describe("the status of a process", () => {
  const status = (name: string, state: string, threads: number): string =>
    `7 (${name}) ${state} 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 ${threads} 0 4711 0 0\n`;

  it.each([
    ["node", "R", 11, false],
    ["node", "T", 11, false],
    ["node", "D", 1, false],
    ["node", "Z", 1, true],
    ["node", "X", 0, true],
    // Its main thread has ended; another one may be writing.
    ["node", "Z", 2, false],
    ["a) Z 1 (b", "S", 1, false],
  ])("of %j in state %s with %d threads is read: zombie %s", (name, state, threads, isZombie) => {
    expect(parseStatus(status(name, state, threads))).toEqual({ startTicks: "4711", isZombie });
  });

  it("is null when it has another form", () => {
    for (const text of ["", "7 (node)", "7 (node) R 1 2 3"]) expect(parseStatus(text)).toBeNull();
  });
});
