/** Exports of a session that another program rewrites in place meanwhile: there are none. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { exportLinear, exportMarkdown, linearPieces, markdownPieces } from "@branchlog/tools";
import type { DataForm } from "../../../packages/cli/src/output.ts";
import { branchlog, MemoryOutput } from "../../cli/command-run.ts";
import { fileOf, header, linesOf } from "../../core/copies/session-files.ts";
import { user } from "../../core/projections/sample-entries.ts";

const count = 3000;

/** A session of some megabytes; each entry has the same length, whatever the word. */
function talk(word: string, entries = count): string {
  const texts = Array.from({ length: entries }, (_, i) => {
    const [id, parentId] = [`e${1e6 + i}`, i === 0 ? null : `e${1e6 + i - 1}`];
    return user(id, parentId, `${word}${i}`.padEnd(1000, "."));
  });
  return linesOf([header, ...texts]);
}

const rewrites: readonly (readonly [string, string])[] = [
  ["other words of the same length", talk("new")],
  ["fewer entries", talk("new", 10)],
  ["nothing yet", ""],
];

describe.each(rewrites)("a session that is rewritten with %s", (_, rewritten) => {
  it.each([
    ["a log", exportLinear],
    ["Markdown", exportMarkdown],
  ])("is not exported as %s", async (_form, write) => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    fs.writeFileSync("/s.jsonl", Buffer.from(talk("old")));
    fs.onCall = ({ name }) => {
      if (name !== "writeSync") return;
      fs.onCall = undefined;
      fs.writeFileSync("/s.jsonl", Buffer.from(rewritten));
    };
    const exported = write("/s.jsonl", "/t", { ports });
    await expect(exported).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
    expect(fs.listSync("/")).toEqual(["s.jsonl"]);
  });

  it.each([
    ["a log", linearPieces],
    ["Markdown", markdownPieces],
  ])("ends the pieces of %s with an error", async (_form, pieces) => {
    const source = fileOf();
    writeFileSync(source, talk("old"));
    const taken = async (): Promise<void> => {
      let isFirst = true;
      for await (const _piece of pieces(source)) {
        if (isFirst) writeFileSync(source, rewritten);
        isFirst = false;
      }
    };
    await expect(taken()).rejects.toMatchObject({ code: "ERR_LOG_CHANGED" });
  });
});

/** An output that rewrites a file as soon as something is written to it. */
class RewritingOutput extends MemoryOutput {
  #path: string | undefined;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  override async writeData(data: string | Buffer, form: DataForm): Promise<void> {
    await super.writeData(data, form);
    if (this.#path !== undefined) writeFileSync(this.#path, talk("new"));
    this.#path = undefined;
  }
}

describe("branchlog export", () => {
  it.each(["pi", "markdown"])("to standard output fails, as %s", async (to) => {
    const source = fileOf();
    writeFileSync(source, talk("old"));
    const out = new RewritingOutput(source);
    const { code, err } = await branchlog(["export", source, "--to", to], { out });
    expect([code, err]).toEqual([1, expect.stringContaining("ERR_LOG_CHANGED")]);
  });

  it("is complete when the session only grows", async () => {
    const source = fileOf();
    writeFileSync(source, talk("old"));
    const target = `${source}.linear`;
    const exported = exportLinear(source, target);
    appendFileSync(source, linesOf([user("last", `e${1e6 + count - 1}`, "more")]));
    expect((await exported).sizeBytes).toBe(readFileSync(target).length);
  });
});
