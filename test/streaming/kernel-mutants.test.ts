/**
 * The scan kernel against a plain reference, which parses every line; and small changes of the
 * kernel, each of which the comparison must notice.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scanFlags } from "@branchlog/streaming";
import type { JsonObject, ScannedRows } from "@branchlog/streaming";
import { ScanKernel } from "../../packages/streaming/src/record-scan.ts";
import { kernelCode } from "../../packages/streaming/src/scan-kernel-code.ts";
import { runs } from "../support/fault-seed.ts";
import { envelopeOf } from "./support/read-envelope.ts";
import { lineOf, otherForms, recordJson, writtenForms } from "./support/session-lines.ts";
import { dataBeside } from "../support/data-file.ts";
import { checkedLines } from "./support/checked-lines.ts";

/** A line, and what a reader that parses may find in it; null: it must not be trusted. */
interface Sample {
  readonly line: Buffer;
  readonly mustBeTrusted: boolean;
  readonly record: JsonObject | null;
  /** Whether it is known to be a record without a parse. */
  readonly isRecord?: boolean;
}

const id = "a1b2c3d4";
const parentId = "0f0e0d0c";
const written = Object.entries(writtenForms)
  .filter(([name]) => name !== "migratedThinking")
  .map(([, record]) => record);

function sampleOf(record: object, mustBeTrusted: boolean): Sample {
  // What was made of JSON.
  return { line: lineOf(record), mustBeTrusted, record: record as JsonObject };
}

interface Tables {
  /** Texts of times that are exact, and of others. */
  readonly times: readonly string[];
  readonly noTimes: readonly string[];
  readonly ids: readonly string[];
  /** Changes of the kernel, by file, that the comparison must notice: a text, and another one. */
  readonly changes: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>>;
}

const { times, noTimes, ids, changes } = dataBeside(
  import.meta.url,
  "kernel-mutants.json",
) as Tables;

const mark = (fields: object): object => ({
  type: "mark",
  id,
  parentId,
  timestamp: "t",
  ...fields,
});

function samples(): Sample[] {
  const torn = [...written, ...Object.values(otherForms)].map((record) => lineOf(record));
  const fused = torn.flatMap((first) =>
    [1, 9, 30, 60, 85, first.length - 1, first.length].flatMap((cut) =>
      written.map((second) => ({
        line: Buffer.concat([first.subarray(0, cut), lineOf(second)]),
        mustBeTrusted: false,
        record: null,
      })),
    ),
  );
  const random = fc.sample(recordJson, { numRuns: 3000, seed: 1 }).map((text) => ({
    line: Buffer.from(text),
    mustBeTrusted: false,
    // Made of objects.
    record: JSON.parse(text) as JsonObject,
  }));
  const content = "x".repeat(5000);
  const users = written.slice(0, 1);
  const damaged = users.flatMap((record) => {
    const text = lineOf(record).toString();
    const texts = [
      text.slice(0, -1),
      `${text} `,
      text.replace("hello", "h\0i"),
      text.replace('"hello"', '{"parentId":1}'),
      text.replace(id, "a1b2\\u0031"),
      text.replace(id, "é1b2c3d4"),
      text.replace(id, "a\t2b"),
      text.replace(parentId, ""),
      `${lineOf(mark({})).toString()}{"a":1}`,
      lineOf({
        type: "custom",
        customType: "t",
        x: { data: 1 },
        id,
        parentId,
        timestamp: "t",
      }).toString(),
    ];
    return texts.map((line) => ({ line: Buffer.from(line), mustBeTrusted: false, record: null }));
  });
  return [
    ...written.map((record) => sampleOf(record, true)),
    ...written.map((record) => ({
      ...sampleOf(record, true),
      line: Buffer.concat([lineOf(record), Buffer.from("\r")]),
    })),
    ...[...times, ...noTimes].map((timestamp) => sampleOf(mark({ timestamp }), true)),
    ...ids.flatMap((other) => [
      sampleOf(mark({ id: other }), true),
      sampleOf(mark({ parentId: other }), true),
    ]),
    sampleOf(mark({ label: "x" }), true),
    sampleOf(mark({ label: 1 }), true),
    // Its envelope is trusted, but not that it is JSON.
    {
      ...sampleOf(mark({ label: "x", behind: 1 }), true),
      line: Buffer.concat([lineOf(mark({ label: "x" })), Buffer.from('{"a":1}')]),
    },
    sampleOf(mark({ a: "x", type: "other" }), false),
    sampleOf(
      { type: "message", id, parentId, timestamp: "t", message: { role: "user", content } },
      true,
    ),
    sampleOf(
      { type: "custom", customType: "t", data: { content }, id, parentId, timestamp: "t" },
      true,
    ),
    ...Array.from({ length: 100 }, (_, n) => sampleOf(mark({ type: `kind-${n % 50}` }), true)),
    ...answers,
    ...results,
    ...checked,
    ...damaged,
    ...fused,
    ...random,
  ];
}

const tokens = { input: 3, output: 0, cacheRead: 12_345, cacheWrite: 1 };
const spent = { ...tokens, totalTokens: 12_349, cost: { input: 0.5, total: 0.123 } };
const answer = {
  type: "message",
  id,
  parentId,
  timestamp: "t",
  message: {
    role: "assistant",
    content: [],
    provider: "p",
    model: "m",
    usage: spent,
    stopReason: "stop",
    timestamp: 1_749_718_821_000,
  },
};
const withTotal = (total: number): object => ({
  ...answer,
  message: { ...answer.message, usage: { ...spent, cost: { total } } },
});
const answers: Sample[] = [
  answer,
  { ...answer, message: { ...answer.message, provider: "", model: "" } },
  { ...answer, message: { ...answer.message, model: "m-2" } },
  ...[0, 7, 0.1 + 0.2, 1e-7, 9_007_199_254_740_994].map(withTotal),
  ...Array.from({ length: 50 }, (_, n) => (1234.5 * (n + 1)) / 7).map(withTotal),
  { ...answer, message: { ...answer.message, usage: { ...spent, more: { total: 5 } } } },
  { ...answer, message: { ...answer.message, usage: { ...spent, cost: { a: {}, total: 5 } } } },
  { ...answer, message: { ...answer.message, timestamp: 7 } },
  { ...answer, message: { ...answer.message, content: "text" } },
  { ...answer, message: { ...answer.message, stopReason: "s-1" } },
  { ...answer, message: { ...answer.message, timestamp: 0.5 } },
  { ...answer, message: { ...answer.message, timestamp: 123_456_789_012_345_680 } },
].map((record) => sampleOf(record, true));

const result = {
  ...answer,
  message: { role: "toolResult", content: [], isError: false, timestamp: 1_749_718_821_000 },
};
const results: Sample[] = [
  result,
  {
    ...result,
    message: {
      role: "toolResult",
      content: [],
      usage: spent,
      isError: true,
      timestamp: 1_749_718_821_000,
    },
  },
  { ...result, message: { ...result.message, usage: spent } },
  { ...result, message: { ...result.message, content: "text" } },
].map((record) => sampleOf(record, true));

const checked: Sample[] = Object.entries(checkedLines).flatMap(([kind, lines]) =>
  lines.map((line) => {
    const isRecord = kind === "records";
    return { line: Buffer.from(line), mustBeTrusted: false, record: null, isRecord };
  }),
);

/** What is wrong in what a kernel finds; the first of it. */
function firstFault(kernel: ScanKernel, all: readonly Sample[]): string | undefined {
  const bytes = Buffer.concat(all.flatMap(({ line }) => [line, Buffer.from("\n")]));
  let number = 0;
  let place = 0;
  let fault: string | undefined;
  const take = (rows: ScannedRows): void => {
    for (let row = 0; row < rows.count && fault === undefined; row += 1, number += 1) {
      const sample = all[number];
      if (sample === undefined) fault = "more lines than there are";
      else if ((rows.start[row] ?? 0) + rows.shift !== place) fault = "a line at another place";
      else if (rows.length[row] !== sample.line.length) fault = "a line of another length";
      else fault = faultOf(rows, row, sample);
      place += (sample?.line.length ?? 0) + 1;
    }
  };
  kernel.scan(bytes, 0, bytes.length - 1, take);
  return fault ?? (number === all.length ? undefined : "fewer lines than there are");
}

function faultOf(rows: ScannedRows, row: number, sample: Sample): string | undefined {
  const text = sample.line.toString().slice(0, 200);
  if (sample.isRecord !== undefined && (rows.checked(row) !== undefined) !== sample.isRecord) {
    return `${sample.isRecord ? "not taken" : "taken"} for a record: ${text}`;
  }
  const found = envelopeOf(rows, row);
  if (found === null) return sample.mustBeTrusted ? `not trusted: ${text}` : undefined;
  const { record } = sample;
  if (record === null) return `trusted: ${text}`;
  const { type, message } = record;
  const isCustom = type === "custom" || type === "custom_message";
  const role = type === "message" ? (message as JsonObject)["role"] : undefined;
  const plainText = sample.line.toString().trimEnd();
  const isTail =
    plainText.indexOf('"id":') > plainText.indexOf('"timestamp":') || isCustomTail(record);
  const wanted = {
    type,
    id: record["id"],
    parentId: record["parentId"],
    timestamp: record["timestamp"],
    role,
    customType: isCustom ? record["customType"] : undefined,
    form: isTail ? "tail" : "head",
    endsWithObject: plainText.endsWith("}}"),
    hasPayload: isTail && ["data", "content", "message"].some((key) => key in record),
    isFlat: !isTail && type !== "message" && !isCustom && Object.entries(record).every(isPlain),
  };
  for (const [key, value] of Object.entries(found)) {
    if (value !== Reflect.get(wanted, key)) return `${key} is ${String(value)}: ${text}`;
  }
  const flags = rows.flags[row] ?? 0;
  const isExact = isExactTime(record["timestamp"]);
  if (((flags & scanFlags.exactTime) !== 0) !== isExact) return `time is not read: ${text}`;
  const hasWords = [record["id"], record["parentId"] ?? "00000000"].every(isWord);
  if (((flags & scanFlags.words) !== 0) !== hasWords) return `ids are no words: ${text}`;
  return answerFault(rows, row, record, text) ?? resultFault(rows, row, record, text);
}

function answerFault(
  rows: ScannedRows,
  row: number,
  record: JsonObject,
  text: string,
): string | undefined {
  const found = rows.answer(row);
  if (found === undefined) {
    return record === answers[0]?.record ? `no answer: ${text}` : undefined;
  }
  const message = record["message"] as JsonObject;
  if (message["role"] !== "assistant") return undefined;
  const { timestampMs, model, cost, ...counts } = found;
  if (timestampMs > 999_999_999_999_999) return `a time that is not exact: ${text}`;
  const said = { time: timestampMs, provider: model.provider, model: model.id, ...counts, cost };
  const usage = message["usage"] as JsonObject;
  const { timestamp: time, provider } = message;
  const stored = Object.keys(counts).map((key) => [key, usage[key]] as const);
  const total = (usage["cost"] as JsonObject)["total"];
  const read = { ...Object.fromEntries(stored), cost: total };
  const wanted = { time, provider, model: message["model"], ...read };
  return isDeepStrictEqual(said, wanted) ? undefined : `another answer: ${text}`;
}

function resultFault(
  rows: ScannedRows,
  row: number,
  record: JsonObject,
  text: string,
): string | undefined {
  const message = record["message"];
  if (record["type"] !== "message" || typeof message !== "object" || message === null) {
    return undefined;
  }
  const may = rows.mayResultSpend(row, false);
  if ("usage" in message && !may) return `what a tool spent is passed over: ${text}`;
  return record === results[0]?.record && may ? `a result is parsed: ${text}` : undefined;
}

function isExactTime(text: unknown): boolean {
  if (typeof text !== "string") return false;
  const time = new Date(text);
  return (
    time.getTime() >= 0 && time.getTime() <= Date.UTC(9999, 11, 31, 24) && time.toJSON() === text
  );
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{8}$/u.test(value);
}

function isPlain([key, value]: readonly [string, unknown]): boolean {
  const texts = value === null && key === "parentId" ? [key] : [key, value];
  return texts.every((text) => typeof text === "string" && /^[ !#-[\]-~]*$/u.test(text));
}

function isCustomTail(record: JsonObject): boolean {
  const keys = Object.keys(record);
  return keys.indexOf("customType") === 1;
}

const allEdits = Object.entries(changes).flatMap(([file, edits]) =>
  edits.map(([from, to]) => ({ file, from, to })),
);

/** Each is a kernel to be built: all of them in a soak run. */
const edits = allEdits.filter((_, n) => n % runs(12, 1) === 0);

describe("the scan kernel", () => {
  const all = samples();

  it("agrees with a parser in every line that it trusts", () => {
    expect(firstFault(new ScanKernel(Buffer.from(kernelCode, "base64")), all)).toBeUndefined();
  });

  describe("changed", () => {
    const directory = mkdtempSync(join(tmpdir(), "branchlog-kernels-"));
    afterAll(() => rmSync(directory, { recursive: true }));
    beforeAll(() => {
      const path = join(directory, "edits.json");
      writeFileSync(path, JSON.stringify(edits));
      const script = fileURLToPath(new URL("support/compile-kernels.mjs", import.meta.url));
      execFileSync(process.execPath, [script, path, directory]);
    }, 300_000);

    it.each(edits.map(({ file, from, to }, n) => [file, from, to, n] as const))(
      "is detected: in %s, %j by %j",
      (_file, _from, _to, number) => {
        const code = readFileSync(join(directory, `${number}.wasm`));
        expect(() => {
          const fault = firstFault(new ScanKernel(code), all);
          if (fault !== undefined) throw new Error(fault);
        }).toThrow();
      },
    );
  });
});
