/** A directory in which one pi runs: its working directory, its agent directory and its sessions. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { workspace } from "./install.ts";

/** Absolute paths; all below `root`. */
export interface Sandbox {
  readonly root: string;
  readonly cwd: string;
  readonly agent: string;
  readonly sessions: string;
}

/** Makes the directories; they live as long as the running test. */
export function sandbox(): Sandbox {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "branchlog-e2e-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const made = {
    root,
    cwd: join(root, "project"),
    agent: join(root, "agent"),
    sessions: join(root, "sessions"),
  };
  for (const folder of [made.cwd, made.agent, made.sessions]) mkdirSync(folder);
  return made;
}

/** The text of a fixture. */
export function fixture(name: string): string {
  return readFileSync(join(workspace, "fixtures", `${name}.jsonl`), "utf8");
}

/**
 * Writes a fixture into the sessions of a sandbox, as a session of its working directory: pi does not
 * start in a directory that is not there. Returns the path.
 */
export function sessionFromFixture(place: Sandbox, name: string): string {
  const path = join(place.sessions, `${name}.jsonl`);
  const text = fixture(name).replace(/"cwd":"[^"]*"/, `"cwd":${JSON.stringify(place.cwd)}`);
  writeFileSync(path, text);
  return path;
}

/** The environment of a pi that reaches nothing outside the sandbox and the local model. */
export function environment(place: Sandbox): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return {
    PATH,
    HOME: place.root,
    PI_CODING_AGENT_DIR: place.agent,
    PI_OFFLINE: "1",
    PI_TELEMETRY: "0",
    TZ: "UTC",
    LANG: "C.UTF-8",
  };
}

/** The session files below a folder, by path relative to it, in the order of their names. */
export function sessionFiles(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return new Map(
    names
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}
