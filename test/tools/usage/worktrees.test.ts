/** Worktrees count as the repository that they are of, there or removed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { usageStatistics } from "@branchlog/tools";
import { projectsOf } from "../../../packages/tools/src/usage/worktrees.ts";
import { branchlog, jsonLines } from "../../cli/command-run.ts";
import { assistant, header, jsonl, user } from "../../library/catalog/session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const repository = "/home/dev/shop";

/** As if nothing were there but these. */
function projectsAmong(
  cwds: readonly string[],
  gitFiles: Readonly<Record<string, string | null>> = {},
) {
  return projectsOf(cwds, (directory) => gitFiles[directory]);
}

describe("the project of a working directory", () => {
  it.each([
    [`${repository}/.claude/worktrees/fix-login`, repository],
    [`${repository}/.claude/worktrees/fix-login/packages/a`, `${repository}/packages/a`],
    ["/home/dev/.codex/worktrees/a1b2/shop", repository],
    ["/home/dev/.codex/worktrees/a1b2/shop/packages", `${repository}/packages`],
    ["/home/dev/.codex/worktrees/a1b2/other", "/home/dev/.codex/worktrees/a1b2/other"],
    [`${repository}/.claude/worktrees`, `${repository}/.claude/worktrees`],
    [repository, repository],
    ["", ""],
  ])("of %s, if it is missing, is %s", (cwd, project) => {
    expect(projectsAmong([repository, cwd]).get(cwd)).toBe(project);
  });

  it.each([
    [`gitdir: ${repository}/.git/worktrees/fix\n`, `${repository}/src`],
    ["gitdir: ../shop/.git/worktrees/fix\n", `${repository}/src`],
    ["gitdir: /srv/shop.git/worktrees/fix\n", "/srv/shop.git/src"],
    // Of a submodule, a repository, and something else.
    ["gitdir: ../.git/modules/fix\n", "/home/dev/fix/src"],
    [null, "/home/dev/fix/src"],
    ["nothing of git", "/home/dev/fix/src"],
  ])("is that of a .git above: %j", (gitFile, project) => {
    const cwd = "/home/dev/fix/src";
    expect(projectsAmong([cwd], { "/home/dev/fix": gitFile }).get(cwd)).toBe(project);
  });

  it("is not changed when several repositories have that name", () => {
    const cwd = "/home/dev/.codex/worktrees/a1b2/shop";
    expect(projectsAmong([repository, "/srv/shop", cwd]).get(cwd)).toBe(cwd);
  });

  it("law: is found for each, in any order", () => {
    const name = fc.constantFrom("shop", "a", "b", ".claude", ".codex", "worktrees", ".git");
    const cwd = fc.array(name, { maxLength: 7 }).map((names) => `/${names.join("/")}`);
    fc.assert(
      fc.property(fc.uniqueArray(cwd), (all) => {
        const projects = projectsAmong(all);
        expect(new Map(projectsAmong(all.toReversed()))).toEqual(new Map(projects));
        for (const one of all) expect(projects.has(one)).toBe(true);
      }),
    );
  });
});

describe("statistics by project", () => {
  it("add up a repository and its worktrees, unless that is switched off", async () => {
    const home = temporaryDirectory();
    const own = join(home, "shop");
    const worktree = join(home, "elsewhere");
    mkdirSync(own);
    mkdirSync(worktree);
    writeFileSync(join(worktree, ".git"), `gitdir: ${own}/.git/worktrees/elsewhere\n`);
    const sessions = join(home, "sessions");
    mkdirSync(sessions);
    for (const [id, cwd] of [own, worktree, `${own}/.claude/worktrees/gone`].entries()) {
      const lines = [header({ id: `s${id}`, cwd }), user("hello"), assistant([])];
      writeFileSync(join(sessions, `${id}.jsonl`), jsonl(lines));
    }
    const { groups } = await usageStatistics([sessions]);
    expect([...groups.project.keys()]).toEqual([own]);
    expect(groups.project.get(own)).toMatchObject({ turns: 3, requests: 3 });
    const apart = await branchlog([
      "stats",
      sessions,
      "--by",
      "project",
      "--fold-worktrees=false",
      "--json",
    ]);
    expect(jsonLines(apart.out)).toHaveLength(4);
  });
});
