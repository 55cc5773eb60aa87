/** Long output goes to a pager: a real process, and a terminal in memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { globalOptions } from "../../packages/cli/src/command-words.ts";
import { PagedStream, pagerCommand } from "../../packages/cli/src/pager.ts";
import { ClosedOutput, StreamOutput } from "../../packages/cli/src/output.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Shown {
  readonly paged: PagedStream;
  readonly output: StreamOutput;
  readonly terminal: () => string;
}

function shownBy(pager: string, rows = 5): Shown {
  let text = "";
  const terminal = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const env = { PATH: process.env["PATH"], BRANCHLOG_PAGER: pager };
  const paged = new PagedStream(terminal, { rows, env });
  const output = new StreamOutput(paged, { isTerminal: true, columns: 80, hasColours: false });
  return { paged, output, terminal: () => text };
}

const long = "line\n".repeat(20);

describe("the pager", () => {
  it("shows output that is longer than the screen, and is waited for", async () => {
    const file = join(temporaryDirectory(), "shown");
    const { paged, output, terminal } = shownBy(`cat > '${file}'`);
    paged.allow();
    await output.write(long);
    await output.flush();
    await output.write("the end\n");
    await output.flush();
    await paged.closePager();
    expect(readFileSync(file, "utf8")).toBe(`${long}the end\n`);
    expect(terminal()).toBe("");
  });

  it.each([
    ["short", true, "a\nb\n"],
    ["of a command without one", false, long],
  ])("is not started for output that is %s", async (_what, isAllowed, text) => {
    const { paged, output, terminal } = shownBy("exit 1");
    if (isAllowed) paged.allow();
    await output.write(text);
    await output.flush();
    await paged.closePager();
    expect([paged.isPaging, terminal()]).toEqual([false, text]);
  });

  it.each([0, Number.NaN])(
    "is not started in a terminal of unknown size, %d rows",
    async (rows) => {
      const { paged, output, terminal } = shownBy("sleep 60", rows);
      paged.allow();
      await output.write(long);
      await output.flush();
      await paged.closePager();
      expect([paged.isPaging, terminal()]).toEqual([false, long]);
    },
  );

  it.runIf(process.platform !== "win32")(
    "leaves the output to be printed when its program is missing",
    async () => {
      const file = join(temporaryDirectory(), "shown");
      const { paged, output } = shownBy(`exec 2> /dev/null > '${file}'; no-such-pager -R`);
      paged.allow();
      await output.write(long);
      await output.flush();
      await paged.closePager();
      expect(readFileSync(file, "utf8")).toBe(long);
    },
  );

  it("ends the command without an error when it is left before the end", async () => {
    const { paged, output } = shownBy("head -n 1 > /dev/null");
    paged.allow();
    const writing = async (): Promise<void> => {
      for (;;) {
        await output.write(long.repeat(1000));
        await output.flush();
      }
    };
    await expect(writing()).rejects.toBeInstanceOf(ClosedOutput);
    await paged.closePager();
  });

  it("is named by BRANCHLOG_PAGER, otherwise PAGER, and switched off by cat, nothing or --no-pager", () => {
    expect(pagerCommand({ BRANCHLOG_PAGER: "a", PAGER: "b" })).toBe("a");
    expect(pagerCommand({ PAGER: "b" })).toBe("b");
    expect(pagerCommand({})).toMatch(/^less/);
    expect(pagerCommand({ PAGER: "cat" })).toBeUndefined();
    expect(pagerCommand({ BRANCHLOG_PAGER: "", PAGER: "b" })).toBeUndefined();
    expect(pagerCommand({ BRANCHLOG_PAGER: " ", PAGER: " cat " })).toBeUndefined();
    const words = ["list", "--no-pager", "--no-color", "--", "--no-pager"];
    const rest = ["list", "--", "--no-pager"];
    expect(globalOptions(words)).toEqual({ rest, hasColours: false, hasPager: false });
    expect(globalOptions(rest)).toEqual({ rest, hasColours: true, hasPager: true });
  });
});
