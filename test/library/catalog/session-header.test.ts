/** Header discovery: the first record decides, within one MiB. */
import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSessionHeaderSync } from "../../../packages/library/src/catalog/session-header.ts";
import { headerScanBytesMax } from "../../../packages/library/src/catalog/limits.ts";
import { header, jsonl, user, writeLines } from "./session-lines.ts";
import { temporaryDirectory, temporaryFile } from "../../support/temporary-directory.ts";

/** A header line of exactly so many bytes, without newline. */
function headerOfBytes(bytes: number): string {
  const bare = JSON.stringify(header({ padding: "" }));
  return JSON.stringify(header({ padding: "x".repeat(bytes - bare.length) }));
}

describe("the first record of a file", () => {
  it("is the header, with all its fields", () => {
    const path = temporaryFile(jsonl([header({ extra: { kept: [1] } }), user("hi")]));
    expect(readSessionHeaderSync(path)).toEqual(header({ extra: { kept: [1] } }));
  });

  it.each([
    ["an entry before it", jsonl([user("hi"), header()])],
    ["no string as id", jsonl([header({ id: 7 }), header()])],
    ["no id", jsonl([header({ id: undefined }), header()])],
    ["only entries", jsonl([user("hi")])],
    ["only garbage", "{nope\n\n"],
    ["only blank lines", "\n \r\n"],
    ["nothing at all", ""],
    ["only NUL bytes", Buffer.alloc(10_000)],
  ])("is not a header in a file with %s", (_what, content) => {
    expect(readSessionHeaderSync(temporaryFile(content))).toBeUndefined();
  });

  it.each([
    ["blank lines", "\n  \r\n"],
    ["malformed lines", '{"type":"ses\nnot json\n\0\0\n'],
    ["lines that hold no object", 'null\n5\ntrue\n"x"\n[]\n'],
    ["a byte-order mark", "\u{FEFF}"],
    ["omp's title slot", `${JSON.stringify({ type: "title", v: 1, title: "t", pad: "  " })}\n`],
  ])("is found after %s", (_what, before) => {
    const path = temporaryFile(before + jsonl([header(), user("hi")]));
    expect(readSessionHeaderSync(path)).toEqual(header());
  });

  it("can end in CRLF, or without a newline, and can have an empty id", () => {
    expect(readSessionHeaderSync(temporaryFile(`${JSON.stringify(header())}\r\n`))).toEqual(
      header(),
    );
    expect(readSessionHeaderSync(temporaryFile(JSON.stringify(header())))).toEqual(header());
    expect(readSessionHeaderSync(temporaryFile(jsonl([header({ id: "" })])))?.id).toBe("");
  });

  it("is read as UTF-8, also where a character is split between two reads", () => {
    const cwd = `/${"ü€😀".repeat(2000)}`;
    expect(readSessionHeaderSync(temporaryFile(jsonl([header({ cwd }), user("x")])))?.cwd).toBe(
      cwd,
    );
  });
});

describe("the limit of one MiB", () => {
  it("includes a header that ends with the file exactly there", () => {
    const path = temporaryFile(headerOfBytes(headerScanBytesMax));
    expect(readFileSync(path)).toHaveLength(headerScanBytesMax);
    expect(readSessionHeaderSync(path)?.id).toBe("s1");
  });

  it("excludes a header that is one byte longer", () => {
    expect(
      readSessionHeaderSync(temporaryFile(headerOfBytes(headerScanBytesMax + 1))),
    ).toBeUndefined();
  });

  it("includes a header whose newline is the last byte within it", () => {
    const path = temporaryFile(
      `${headerOfBytes(headerScanBytesMax - 1)}\n${jsonl([user("more")])}`,
    );
    expect(readSessionHeaderSync(path)?.id).toBe("s1");
  });

  it("excludes a header whose newline comes after it", () => {
    const path = temporaryFile(`${headerOfBytes(headerScanBytesMax)}\n`);
    expect(readSessionHeaderSync(path)).toBeUndefined();
  });

  it("excludes a header after one MiB of other data", () => {
    expect(
      readSessionHeaderSync(
        temporaryFile("x\n".repeat(headerScanBytesMax / 2) + jsonl([header()])),
      ),
    ).toBeUndefined();
  });
});

describe("reading a header", () => {
  it("gives the same result with any length before it", () => {
    const line = jsonl([header()]);
    fc.assert(
      fc.property(fc.nat({ max: 20_000 }), (bytes) => {
        const path = temporaryFile(`${" ".repeat(bytes)}\n${line}`);
        expect(readSessionHeaderSync(path)).toEqual(header());
      }),
      { numRuns: 50 },
    );
  });

  it("finds a header in exactly the prefixes of a file that contain it completely", () => {
    const line = JSON.stringify(header());
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header(), user("hi")]);
    for (let bytes = readFileSync(path).length; bytes >= 0; bytes -= 1) {
      truncateSync(path, bytes);
      expect(readSessionHeaderSync(path)).toEqual(bytes >= line.length ? header() : undefined);
    }
  });

  it("throws the errors of the file system", () => {
    const directory = temporaryDirectory();
    expect(() => readSessionHeaderSync(join(directory, "gone.jsonl"))).toThrow("ENOENT");
    expect(() => readSessionHeaderSync(directory)).toThrow("EISDIR");
  });
});
