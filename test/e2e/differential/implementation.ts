/** An implementation of pi's session layer in a separate process. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { NormalForm } from "../support/normal-form.ts";
import { workspace } from "../support/install.ts";
import type { Report, Script } from "./operation.ts";
import type { Tolerated } from "./tolerated.ts";

const driver = fileURLToPath(new URL("driver.ts", import.meta.url));

/** Carries out scripts; ends with the running test. */
export class Implementation {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param node The Node to run it with: one that strips types, or the one that runs this test. */
  static async start(
    module: string,
    tolerated: readonly Tolerated[],
    node?: string,
  ): Promise<Implementation> {
    const child = fork(driver, [pathToFileURL(module).href, JSON.stringify(tolerated)], {
      cwd: workspace,
      ...(node === undefined
        ? { execArgv: ["--import", "tsx"] }
        : { execArgv: [], execPath: node }),
    });
    onTestFinished(() => void child.kill());
    await once(child, "message");
    return new Implementation(child);
  }

  /** What became of a script, with names instead of ids. */
  async run(script: Script): Promise<unknown> {
    this.#child.send(script);
    // Decoding boundary: the driver sends one report for each script.
    const [report] = (await once(this.#child, "message")) as [Report | { failure: string }];
    if ("failure" in report) throw new Error(report.failure);
    const { root, steps, end } = report;
    const form = new NormalForm({ root }, [script.stored ?? ""], { keepsTimes: true });
    return form.of({ steps, end });
  }
}
