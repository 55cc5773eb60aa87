/** PyYAML, with which ConnectOnion itself reads and writes; missing on some machines. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The first Python of this machine that has PyYAML; undefined if none has. */
export const pythonWithYaml: string | undefined = ["python3", "/usr/bin/python3"].find(
  (program) => spawnSync(program, ["-c", "import yaml"], { stdio: "ignore" }).status === 0,
);

/** Why tests with it are skipped, for their names. */
export const withoutPython: string =
  pythonWithYaml === undefined ? " (skipped: no python3 with PyYAML here)" : "";

/** What Python answers to each of the values, by a function of `yaml-answers.py`. */
export function askPython(question: string, values: readonly unknown[]): unknown {
  return runPython(new URL("yaml-answers.py", import.meta.url), [question], JSON.stringify(values));
}

/** What a script prints as JSON, given its arguments and its input. */
export function runPython(script: URL, words: readonly string[], input: string = ""): unknown {
  const { status, stdout, stderr } = spawnSync(
    pythonWithYaml ?? "python3",
    [fileURLToPath(script), ...words],
    { input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`python ended with ${status}: ${stderr}`);
  const printed: unknown = JSON.parse(stdout);
  return printed;
}
