/** Another process that locks a path on command: one command at a time, each answered. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { LockTimes } from "../../../packages/core/src/platform/lockfile-lock.ts";

const program = fileURLToPath(new URL("lock-process-main.ts", import.meta.url));
const cwd = fileURLToPath(new URL("../../..", import.meta.url));
const execArgv = ["--import", "tsx", "--conditions=@branchlog/source"];

/** Commands that let nothing else run in the process, timers included, until a file exists. */
export type StallCommand = "stall" | "stallAndRelease";

/** What the process can be told. */
export type LockCommand = StallCommand | "tryAcquire" | "acquire" | "isOurs" | "release" | "exit";

/** A command on its way. */
export interface LockRequest {
  readonly command: LockCommand;
  /** The file that a stall waits for. */
  readonly file: string;
}

/** The process. It is killed when the test has ended. */
export class LockProcess {
  readonly #child: ChildProcess;

  /** Starts a process that locks `path`. Call it inside a test. */
  constructor(path: string, times: LockTimes) {
    this.#child = fork(program, [path, JSON.stringify(times)], { cwd, execArgv });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
  }

  /** Sends a command; resolves with its result, null if it has none. */
  async ask(command: Exclude<LockCommand, "exit">, file: string = ""): Promise<unknown> {
    const settled = new AbortController();
    const { signal } = settled;
    const answer = once(this.#child, "message", { signal });
    const death = once(this.#child, "exit", { signal }).then(([code]) => {
      throw new Error(`the process ended with ${String(code)} at ${command}`);
    });
    this.#send({ command, file });
    try {
      const replies: readonly unknown[] = await Promise.race([answer, death]);
      return resultOf(replies[0]);
    } finally {
      settled.abort();
    }
  }

  /** Lets it end by itself, with its exit handlers. */
  async exit(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#send({ command: "exit", file: "" });
    await exited;
  }

  #send(request: LockRequest): void {
    this.#child.send(request);
  }
}

function resultOf(reply: unknown): unknown {
  return typeof reply === "object" && reply !== null && "result" in reply
    ? reply.result
    : undefined;
}
