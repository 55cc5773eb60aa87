/** PyYAML, with which ConnectOnion itself reads and writes; missing on some machines. */
import { spawnSync } from "node:child_process";

/** The first Python of this machine that has PyYAML; undefined if none has. */
export const pythonWithYaml: string | undefined = ["python3", "/usr/bin/python3"].find(
  (program) => spawnSync(program, ["-c", "import yaml"], { stdio: "ignore" }).status === 0,
);

/** Why tests with it are skipped, for their names. */
export const withoutPython: string =
  pythonWithYaml === undefined ? " (skipped: no python3 with PyYAML here)" : "";

/** What PyYAML reads in each of the texts. */
export function loadedByPython(texts: readonly string[]): unknown {
  const script = [
    "import yaml, json, sys",
    "print(json.dumps([yaml.safe_load(t) for t in json.load(sys.stdin)]))",
  ];
  return runPython(script.join("\n"), JSON.stringify(texts));
}

/** What a script prints as JSON, given its input. */
export function runPython(script: string, input: string, ...words: string[]): unknown {
  const { status, stdout, stderr } = spawnSync(
    pythonWithYaml ?? "python3",
    ["-c", script, ...words],
    { input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`python ended with ${status}: ${stderr}`);
  const printed: unknown = JSON.parse(stdout);
  return printed;
}
