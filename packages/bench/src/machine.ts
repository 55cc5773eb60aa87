/** On what a benchmark ran: without it, its numbers mean nothing. */
import { spawnSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { version } from "node:process";

/** Machine, runtime and sources of a run. */
export interface MachineFacts {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  /** Short hash, with `+changes` if the working tree differs; `none` outside a repository. */
  readonly commit: string;
  /** ISO time. */
  readonly date: string;
}

/** Facts of this machine and of the repository in `root`. */
export function readMachine(root: string): MachineFacts {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: version,
    commit: readCommit(root),
    date: new Date().toISOString(),
  };
}

function readCommit(root: string): string {
  const head = git(root, ["rev-parse", "--short", "HEAD"]);
  if (head === undefined) return "none";
  return git(root, ["status", "--porcelain"]) === "" ? head : `${head}+changes`;
}

function git(root: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", [...args], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
