/** Starts pi: once for a task, or as a server that is spoken to over its standard streams. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { PiProgram } from "./pi-program.ts";
import { environment } from "./sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** Longer than any step takes here, on a busy machine. */
const silenceMsMax = 60_000;

/** What pi says: an answer to a command, or an event. */
export interface PiRecord {
  readonly type: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

/** A command without its id. */
export interface PiCommand {
  readonly type: string;
  readonly [field: string]: unknown;
}

// The unbundled program: the bundle has the session layer built in.
function commandLine(pi: PiProgram, args: readonly string[]): readonly string[] {
  const { imports = [] } = pi;
  const before = imports.flatMap((module) => ["--import", module]);
  return [...before, join(pi.packageFolder, "dist/cli.js"), ...args];
}

/** Runs pi to its end; what it printed. Rejects unless it ends well. */
export async function runPi(
  pi: PiProgram,
  place: Sandbox,
  args: readonly string[],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const options = { cwd: place.cwd, env: environment(place), timeout: 60_000 };
  const running = promisify(execFile)(pi.node, commandLine(pi, args), options);
  // Asked to print, pi reads what is piped into it to the end.
  running.child.stdin?.end();
  return running;
}

/** A pi that takes commands. It ends with the running test at the latest. */
export class PiServer {
  /** Everything that was sent and received, in order. */
  readonly transcript: (PiCommand | PiRecord)[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Set<() => void>();
  #stderr = "";
  #rest = "";
  #sent = 0;
  #hasEnded = false;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#receive(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    child.on("close", () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  static start(pi: PiProgram, place: Sandbox, args: readonly string[]): PiServer {
    const server = new PiServer(
      spawn(pi.node, commandLine(pi, ["--mode", "rpc", ...args]), {
        cwd: place.cwd,
        env: environment(place),
        stdio: ["pipe", "pipe", "pipe"],
      }),
    );
    onTestFinished(() => void server.#child.kill("SIGKILL"));
    return server;
  }

  /** Sends a command and waits for its answer. */
  async ask(command: PiCommand): Promise<PiRecord> {
    this.#sent += 1;
    const id = `command-${this.#sent}`;
    this.transcript.push(command);
    this.#child.stdin.write(`${JSON.stringify({ ...command, id })}\n`);
    return this.#until((record) => record.type === "response" && record.id === id);
  }

  /** The data of the answer to a command that must succeed. */
  async data<Data>(command: PiCommand): Promise<Data> {
    const answer = await this.ask(command);
    if (answer["success"] !== true) throw new Error(`${command.type}: ${String(answer["error"])}`);
    // Decoding boundary: the callers name the shape that pi documents for the command.
    return answer["data"] as Data;
  }

  /**
   * Lets the model answer a prompt, and waits until pi will not go on by itself. A prompt that pi
   * refuses is over at once.
   */
  async prompt(message: string): Promise<void> {
    const settledBefore = this.#count("agent_settled");
    const answer = await this.ask({ type: "prompt", message });
    if (answer["success"] !== true) return;
    await this.#until(() => this.#count("agent_settled") > settledBefore);
  }

  /** Sends a prompt and waits until pi has taken it in. */
  async begin(message: string): Promise<void> {
    await this.ask({ type: "prompt", message });
    await this.#until(({ type, message: said }) => {
      return type === "message_end" && JSON.stringify(said).includes(JSON.stringify(message));
    });
  }

  /** Runs a command of an extension, with its argument as JSON. */
  async command(name: string, argument: unknown): Promise<void> {
    await this.ask({ type: "prompt", message: `/${name} ${JSON.stringify(argument)}` });
  }

  /** Ends pi in order. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    if (!this.#hasEnded) await once(this.#child, "close");
  }

  /** Ends pi at once, as a power cut would. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    if (!this.#hasEnded) await once(this.#child, "close");
  }

  #count(type: string): number {
    return this.transcript.filter((record) => record.type === type).length;
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.transcript.push(JSON.parse(line) as PiRecord);
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async #nextRecord(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const tooLong = setTimeout(() => {
        const last = JSON.stringify(this.transcript.slice(-3)).slice(0, 2000);
        reject(new Error(`pi says nothing: ${last} ${this.#stderr}`));
      }, silenceMsMax);
      this.#waiting.add(() => {
        clearTimeout(tooLong);
        resolve();
      });
    });
  }

  async #until(isWanted: (record: PiRecord) => boolean): Promise<PiRecord> {
    for (;;) {
      const found = (this.transcript as readonly PiRecord[]).findLast(isWanted);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`pi ended: ${this.#stderr}`);
      await this.#nextRecord();
    }
  }
}
