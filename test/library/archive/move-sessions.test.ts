/** Sessions follow a renamed directory, to where their agents look for them. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { getDefaultSessionDir as ompDirectory } from "@branchlog/agents/omp";
import { SessionManager, getDefaultSessionDir } from "@branchlog/agents/pi";
import { nodePorts } from "@branchlog/core/testing";
import { moveSessions, undoOperation } from "@branchlog/library";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { ledgerOf, write } from "./kept-sessions.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

interface Renamed {
  readonly home: string;
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** A home with sessions of four agents in `from`, of one below it, and of another project. */
function renamed(): Renamed {
  const home = temporaryDirectory();
  const [from, to] = [join(home, "shop"), join(home, "shop-api")];
  vi.stubEnv("HOME", home);
  for (const name of ["PI_CODING_AGENT_DIR", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"]) {
    vi.stubEnv(name, "");
  }
  mkdirSync(to);
  const message = '{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00Z"';
  const text = `${message},"message":{"role":"user","content":"hello","timestamp":1}}\n`;
  const header = (id: string, cwd: string): string =>
    `{"type":"session","version":3,"id":"${id}","timestamp":"2026-01-01T00:00:00Z", "cwd" : ${JSON.stringify(cwd)}}\n`;
  const pi = (cwd: string, id: string): string =>
    write(join(getDefaultSessionDir(cwd), `t_${id}.jsonl`), `${header(id, cwd)}${text}`);
  pi(from, "pi-1");
  pi(join(from, "web"), "pi-2");
  pi(`${from}-other`, "pi-3");
  const omp = join(ompDirectory(from), "t_omp-1.jsonl");
  const own = readFileSync(new URL("../../../fixtures/omp-18.jsonl", import.meta.url), "utf8");
  const lines = own.replace(/"id":"[^"]*"(?=[^\n]*"cwd")/, '"id":"omp-1"');
  write(omp, lines.replace(/"cwd":"[^"]*"/, `"cwd":${JSON.stringify(from)}`));
  write(join(dirname(omp), "t_omp-1/artifact.txt"), "an artifact");
  const uuid = "c1a0de00-0000-4000-8000-00000000000a";
  const claude = { type: "user", uuid: "u", parentUuid: null, sessionId: uuid, cwd: from };
  const line = {
    ...claude,
    version: "2.0.0",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: "hello" },
  };
  const project = from.replaceAll(/[^A-Za-z0-9]/g, "-");
  write(join(home, ".claude/projects", project, `${uuid}.jsonl`), `${JSON.stringify(line)}\n`);
  const meta = { id: "019aed00-0000-7000-8000-000000000003", cwd: from, originator: "codex_cli" };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const codex = [
    { timestamp, type: "session_meta", payload: { ...meta, timestamp, cli_version: "0.50.0" } },
    {
      timestamp,
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
    },
  ];
  write(
    join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${meta.id}.jsonl`),
    codex.map((record) => `${JSON.stringify(record)}\n`).join(""),
  );
  return { home, from, to, dataDir: temporaryDirectory() };
}

describe("moving sessions", () => {
  it.runIf(process.platform === "linux")(
    "leaves no file open when a session is only a header",
    async () => {
      const { home, from, to, dataDir } = renamed();
      const header = { type: "session", version: 3, id: "pi-0", timestamp: "2026-01-01T00:00:00Z" };
      write(
        join(getDefaultSessionDir(from), "t_pi-0.jsonl"),
        `${JSON.stringify({ ...header, cwd: from })}\n`,
      );
      await moveSessions(from, to, { dataDir });
      // A stream that nothing reads opens its file after the call.
      await nextIteration();
      await stat(home);
      const open = readdirSync("/proc/self/fd").map((fd) => linkAt(`/proc/self/fd/${fd}`));
      expect(open.filter((path) => path.startsWith(home))).toEqual([]);
    },
  );

  it("moves each to where its agent looks, with the new directory in its header", async () => {
    const { home, from, to, dataDir } = renamed();
    const before = ledgerOf(home);
    const { moved, failures } = await moveSessions(from, to, { dataDir });
    expect(failures).toEqual([]);
    const agents = moved.map(({ agent }) => agent).toSorted();
    expect(agents).toEqual(["claude", "codex", "omp", "pi", "pi"]);
    const resumed = SessionManager.continueRecent(to);
    expect([resumed.getSessionId(), resumed.getCwd()]).toEqual(["pi-1", to]);
    expect(SessionManager.continueRecent(join(to, "web")).getSessionId()).toBe("pi-2");
    const [omp = ""] = readdirSync(ompDirectory(to)).filter((name) => name.endsWith(".jsonl"));
    const session = await openSession(join(ompDirectory(to), omp), { access: "read" });
    expect(session.header).toMatchObject({ id: "omp-1", cwd: to });
    expect(existsSync(join(ompDirectory(to), "t_omp-1/artifact.txt"))).toBe(true);
    const claude = join(home, ".claude/projects", to.replaceAll(/[^A-Za-z0-9]/g, "-"));
    expect(readdirSync(claude)).toEqual(["c1a0de00-0000-4000-8000-00000000000a.jsonl"]);
    const codex = moved.find(({ agent }) => agent === "codex");
    const [meta = ""] = readFileSync(codex?.to ?? "", "utf8").split("\n");
    expect(JSON.parse(meta)).toMatchObject({ payload: { cwd: to, originator: "codex_cli" } });
    expect(
      readFileSync(join(getDefaultSessionDir(`${from}-other`), "t_pi-3.jsonl"), "utf8"),
    ).toContain(`${from}-other`);
    await undoOperation(undefined, { dataDir });
    expect(ledgerOf(home)).toEqual(before);
  });

  it("lists the moves, and moves nothing", async () => {
    const { home, from, to, dataDir } = renamed();
    const before = ledgerOf(home);
    const { moved, operation } = await moveSessions(from, to, { dataDir, dryRun: true });
    expect([moved.length, operation]).toEqual([5, null]);
    expect(ledgerOf(home)).toEqual(before);
  });

  it("keeps later appends when it is undone", async () => {
    const { from, to, dataDir } = renamed();
    await moveSessions(from, to, { dataDir });
    const line = '{"type":"custom","id":"2","parentId":"1","timestamp":"t","customType":"x:y"}\n';
    const path = join(getDefaultSessionDir(to), "t_pi-1.jsonl");
    appendFileSync(path, line);
    await undoOperation(undefined, { dataDir });
    const back = readFileSync(join(getDefaultSessionDir(from), "t_pi-1.jsonl"), "utf8");
    expect(back.endsWith(line)).toBe(true);
    expect(back).toContain(`"cwd" : ${JSON.stringify(from)}`);
  });

  it("does not move a session with a writer, or one whose new path exists", async () => {
    const { from, to, dataDir } = renamed();
    const path = join(getDefaultSessionDir(from), "t_pi-1.jsonl");
    const held = nodePorts.lock.tryAcquireSync(path);
    const taken = write(join(getDefaultSessionDir(join(to, "web")), "t_pi-2.jsonl"), "mine\n");
    const { moved, failures } = await moveSessions(from, to, { dataDir });
    held?.releaseSync();
    expect(failures.map(({ code }) => code).toSorted()).toEqual([
      "ERR_LOCK_TIMEOUT",
      "ERR_LOG_EXISTS",
    ]);
    expect(moved.length).toBe(3);
    expect(readFileSync(taken, "utf8")).toBe("mine\n");
    expect(existsSync(path)).toBe(true);
    expect(existsSync(join(getDefaultSessionDir(join(from, "web")), "t_pi-2.jsonl"))).toBe(true);
  });

  it("is rejected without a new directory, and for the same one", async () => {
    const { from, dataDir } = renamed();
    for (const target of [from, join(from, "nowhere")]) {
      await expect(moveSessions(from, target, { dataDir })).rejects.toMatchObject({
        code: "ERR_INVALID_ARGUMENT",
      });
    }
  });
});
