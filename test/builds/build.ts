/** One build in a separate process, which carries out scripts one after another. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { workspace } from "../e2e/support/install.ts";
import type { SessionScript } from "./session-script.ts";

const program = fileURLToPath(new URL("build-process.ts", import.meta.url));

type Answer = { readonly number: number } & (
  | { readonly report: object }
  | { readonly failure: string }
);

/** See the file comment. It ends with the running test. */
export class Build {
  readonly #child: ChildProcess;
  #sent = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(checkout: string): Promise<Build> {
    const child = fork(program, [checkout], { cwd: workspace, execArgv: ["--import", "tsx"] });
    onTestFinished(() => void child.kill());
    await once(child, "message");
    return new Build(child);
  }

  /** What each step gave, everything that can be asked at the end, and the bytes that are left. */
  async run(script: SessionScript): Promise<object> {
    this.#sent += 1;
    const number = this.#sent;
    this.#child.send({ number, script });
    for (;;) {
      // Decoding boundary: the process sends one message for each script.
      const [answer] = (await once(this.#child, "message")) as [Answer];
      // Of a script that was given up, the answer comes late.
      if (answer.number !== number) continue;
      if ("failure" in answer) throw new Error(answer.failure);
      return answer.report;
    }
  }
}
