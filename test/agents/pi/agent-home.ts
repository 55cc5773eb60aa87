/** A separate agent directory for each test, as `PI_CODING_AGENT_DIR` says. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";

export interface AgentHome {
  /** The agent directory of the running test. */
  readonly path: string;
  /** Makes a directory in the test's own root and returns its path. */
  directory(...parts: string[]): string;
  /** The same for one in the agent's `sessions`. */
  sessions(...parts: string[]): string;
}

export function useAgentHome(): AgentHome {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "branchlog-pi-"));
    vi.stubEnv("PI_CODING_AGENT_DIR", join(root, "agent"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });
  const made = (path: string): string => {
    mkdirSync(path, { recursive: true });
    return path;
  };
  return {
    get path() {
      return join(root, "agent");
    },
    directory: (...parts) => made(join(root, ...parts)),
    sessions: (...parts) => made(join(root, "agent", "sessions", ...parts)),
  };
}
