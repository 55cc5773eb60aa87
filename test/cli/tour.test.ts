/** The tour that `npm start` runs. On dist. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ended } from "./command-process.ts";
import { branchlog } from "./command-run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tour = join(root, "examples/tour/tour.mjs");

/** The commands that it names at the end are those of this clone, and run. */
async function expectNextCommands(end: string): Promise<void> {
  const lines = Array.from(
    end.matchAll(/^ {2}npm run branchlog -- (.*)$/gm),
    ([, line = ""]) => line,
  );
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    // The page is opened by other tests.
    if (line.startsWith("serve")) continue;
    const words = Array.from(
      line.matchAll(/'([^']*)'|(\S+)/g),
      ([, quoted, word]) => quoted ?? word ?? "",
    );
    const paths = words.map((word) => (word.startsWith("fixtures") ? join(root, word) : word));
    expect(await branchlog(paths)).toMatchObject({ code: 0, err: "" });
  }
}

it("the tour shows a session, lets two processes append and a third follow, and loses nothing", async () => {
  const child = spawn(process.execPath, [tour], { env: { PATH: process.env["PATH"] } });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const { code } = await ended(child);
  expect(Buffer.concat(err).toString()).toBe("");
  expect(code).toBe(0);

  const text = Buffer.concat(out).toString();
  expect(text).toContain("Port the settings page");
  expect(text).toContain("◉ ");
  expect(text.match(/50 entries acknowledged/g)).toHaveLength(2);
  expect(text).toMatch(/follower +100 entries seen/);
  expect(text).toMatch(/entries +344 before, 444 after/);
  expect(text.match(/^✓ /gm)).toHaveLength(4);
  expect(text).not.toContain("✗");
  expect(text).toContain("\nTour complete: nothing was lost.\n");
  expect(text.split("\n").length).toBeLessThan(80);
  await expectNextCommands(text.slice(text.indexOf("Tour complete")));
});
