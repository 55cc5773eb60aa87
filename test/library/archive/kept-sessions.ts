/** A folder with sessions of three agents, changed long ago, and a data directory. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fixtureBytes } from "../../support/fixture.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

export interface KeptPlace {
  readonly root: string;
  readonly dataDir: string;
  /** Of pi, with artifacts and an original. */
  readonly pi: string;
  readonly omp: string;
  /** Of Claude Code, with a subagent in its directory and one next to it. */
  readonly claude: string;
}

/** As pi names its sessions: only then the directory of that name is its own. */
export const piName = "2026-01-01T00-00-00-000Z_01973400-0000-7000-8000-000000000002";

const old = new Date(Date.UTC(2026, 0, 1));

export function write(path: string, bytes: string | Buffer): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  utimesSync(path, old, old);
  return path;
}

export function keptPlace(): KeptPlace {
  const root = join(temporaryDirectory(), "sessions");
  const dataDir = temporaryDirectory();
  const pi = write(join(root, `pi/${piName}.jsonl`), fixtureBytes("pi-linear"));
  write(join(root, `pi/${piName}/big/output.txt`), "x".repeat(100_000));
  write(`${pi}.v1-original`, "as it was\n");
  const omp = write(join(root, "omp/b.jsonl"), fixtureBytes("omp-18"));
  const id = "c1a0de00-0000-4000-8000-000000000002";
  const claude = join(root, `claude/-w/${id}.jsonl`);
  write(claude, fixtureBytes("claude/branches"));
  write(join(root, `claude/-w/${id}/subagents/agent-1.jsonl`), subagent(id, "1"));
  write(join(root, "claude/-w/agent-2.jsonl"), subagent(id, "2"));
  return { root, dataDir, pi, omp, claude };
}

function subagent(sessionId: string, agentId: string): string {
  const message = { role: "user", content: "look around" };
  const shared = { sessionId, agentId, isSidechain: true, cwd: "/w", version: "2.0.0" };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const line = {
    ...shared,
    type: "user",
    uuid: `u${agentId}`,
    parentUuid: null,
    timestamp,
    message,
  };
  return `${JSON.stringify(line)}\n`;
}

/** The hash, permissions and time of every file below a directory, by path. */
export function ledgerOf(root: string): Readonly<Record<string, string>> {
  if (!existsSync(root)) return {};
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .toSorted();
  return Object.fromEntries(
    files.map((path) => {
      const { mode, mtimeMs } = statSync(path);
      const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
      return [path, `${hash} ${mode.toString(8)} ${mtimeMs}`];
    }),
  );
}
