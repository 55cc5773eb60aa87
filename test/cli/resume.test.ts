/** `branchlog resume`: which program it runs, where, and what becomes of its end. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startProgram } from "../../packages/cli/src/running-program.ts";
import type { StartedProgram } from "../../packages/cli/src/running-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { header, jsonl, user } from "../library/catalog/session-lines.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";

function sessionIn(cwd: string): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, jsonl([header({ cwd }), user("hello")]));
  return path;
}

describe("resume", () => {
  it.each([0, 7])(
    "runs the command in the session's directory and exits with its code %i",
    async (end) => {
      const cwd = temporaryDirectory();
      const path = sessionIn(cwd);
      const started: StartedProgram[] = [];
      const runProgram = (program: StartedProgram): Promise<number> => {
        started.push(program);
        return Promise.resolve(end);
      };
      expect(await branchlog(["resume", path], { runProgram })).toEqual({
        code: end,
        out: "",
        err: "",
      });
      expect(started).toEqual([{ words: ["pi", "--session", path], cwd }]);
    },
  );

  it("prints the command of info, quoted for a shell", async () => {
    const cwd = join(temporaryDirectory(), "it's here");
    const path = sessionIn(cwd);
    const quotedCwd = `'${cwd.replace("'", String.raw`'\''`)}'`;
    const [info] = jsonLines((await branchlog(["info", path, "--json"])).out);
    const { resume } = info as { readonly resume: string };
    for (const word of ["--dry-run", "--print"]) {
      const { code, out } = await branchlog(["resume", path, word]);
      expect([code, out]).toEqual([0, `cd ${quotedCwd} && ${resume}\n`]);
    }
    const [json] = jsonLines((await branchlog(["resume", path, "--json"])).out);
    expect(json).toEqual({ command: ["pi", "--session", path], cwd });
  });

  it("knows the commands of other agents", async () => {
    const id = /"sessionId":"([^"]+)"/.exec(
      readFileSync(fixture("claude/conversation.jsonl"), "utf8"),
    )?.[1];
    const [claude] = jsonLines(
      (await branchlog(["resume", fixture("claude/conversation.jsonl"), "--json"])).out,
    );
    expect(claude).toMatchObject({ command: ["claude", "--resume", id] });
    const { code, err } = await branchlog(["resume", fixture("connectonion-dumped.yaml")]);
    expect(code).toBe(1);
    expect(err).toMatch(/ConnectOnion has no command that resumes a session\. .*ERR_RESUME_FAILED/);
  });

  it("reports advice when the program is not installed, or the directory is missing", async () => {
    const cwd = temporaryDirectory();
    const missing = await branchlog(["resume", sessionIn(cwd)]);
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(
      /pi is not installed, or not on the PATH\. The command is: cd .* && pi --session/,
    );
    const gone = await branchlog(["resume", sessionIn(join(cwd, "gone"))]);
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/gone, does not exist\. If it moved, branchlog mv .* NEWDIR/);
  });
});

describe("a program that is run", () => {
  const node = (script: string): readonly string[] => [process.execPath, "-e", script];

  it("has its directory, and ends with its own exit code", async () => {
    const cwd = realpathSync(temporaryDirectory());
    mkdirSync(join(cwd, "a b"));
    const script = "require('fs').writeFileSync('here', process.cwd()); process.exit(9)";
    const { ended } = startProgram({ words: node(script), cwd: join(cwd, "a b") });
    expect(await ended).toBe(9);
    expect(readFileSync(join(cwd, "a b", "here"), "utf8")).toBe(join(cwd, "a b"));
  });

  it("receives signals, and has the exit code that shells use for them", async () => {
    const program = startProgram({ words: node("setInterval(() => {}, 1000)"), cwd: "/" });
    program.kill("SIGTERM");
    expect(await program.ended).toBe(143);
  });

  it("cannot be started if it is missing", async () => {
    const { ended } = startProgram({ words: ["branchlog-no-such-program"], cwd: "/" });
    await expect(ended).rejects.toMatchObject({ code: "ENOENT" });
  });
});
