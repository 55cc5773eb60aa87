/** Laws of the scan of records: what it trusts is what JSON.parse says; fused lines never are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, LineFramer } from "@branchlog/streaming";
import { runs } from "../support/fault-seed.ts";
import { everyCase } from "../support/law-time.ts";
import { sampled } from "../support/sampled.ts";
import {
  type Envelope,
  readEnvelope,
  readEnvelopes,
  readLongEnvelope,
} from "./support/read-envelope.ts";
import {
  lineOf,
  objectJson,
  otherForms,
  recordJson,
  writtenForms,
  writtenJson,
} from "./support/session-lines.ts";

/** Of the laws that count. */
const cases = runs(1_000, 5_000);

/** The envelope that a parser would find in a valid record. */
function expectEnvelope(found: Envelope, line: Buffer): void {
  const record = JSON.parse(line.toString()) as JsonObject;
  const isCustom = record["type"] === "custom" || record["type"] === "custom_message";
  const message = record["type"] === "message" ? (record["message"] as JsonObject) : undefined;
  expect(found).toEqual({
    type: record["type"],
    id: record["id"],
    parentId: record["parentId"],
    timestamp: record["timestamp"],
    role: message?.["role"],
    customType: isCustom ? record["customType"] : undefined,
    form: found.form,
    endsWithObject: line.subarray(-2).toString() === "}}",
    isFlat: found.isFlat,
    hasPayload: found.form === "tail" && ["data", "content", "message"].some((k) => k in record),
  });
}

describe("law: a trusted envelope is the parsed one", () => {
  it("a trusted envelope equals the parsed one for hostile texts and payloads", () => {
    let trusted = 0;
    fc.assert(
      fc.property(recordJson, (text) => {
        const line = Buffer.from(text);
        for (const found of [readEnvelope(line), readLongEnvelope(line)]) {
          if (!found) continue;
          trusted += 1;
          expectEnvelope(found, line);
        }
      }),
      { numRuns: cases, ...everyCase },
    );
    expect(trusted).toBeGreaterThan(cases / 20);
  });

  it("a flat line is JSON, after any change", () => {
    const flat = '{"type":"mark","id":"a1b2c3d4","parentId":null,"timestamp":"t","a":"b","c":"d"}';
    const edit = fc.record({
      at: fc.nat({ max: flat.length }),
      removed: fc.nat({ max: 3 }),
      inserted: fc.string({ unit: "binary-ascii", maxLength: 3 }),
    });
    let count = 0;
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = flat;
        for (const { at, removed, inserted } of edits) {
          text = text.slice(0, at) + inserted.replaceAll("\n", "") + text.slice(at + removed);
        }
        const found = readEnvelope(Buffer.from(text));
        if (found?.isFlat !== true) return;
        count += 1;
        expectEnvelope(found, Buffer.from(text));
      }),
      { numRuns: cases, ...everyCase },
    );
    expect(count).toBeGreaterThan(cases / 50);
  });

  it("a line is read the same alone, with others, and in chunks of any size", () => {
    const lines = fc.array(recordJson, { maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 400 }), (texts, chunkBytes) => {
        const alone = texts.map((text) => readEnvelope(Buffer.from(text)));
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
        if (texts.length > 0) expect(readEnvelopes(bytes.subarray(0, -1))).toEqual(alone);
        const found: (Envelope | null)[] = [];
        const framer = new LineFramer();
        const target = Buffer.alloc(chunkBytes);
        const sink = {
          addLines: (chunk: Buffer, start: number, end: number): number => {
            const envelopes = readEnvelopes(chunk, start, end);
            found.push(...envelopes);
            return envelopes.length;
          },
          longLine: () => {
            throw new Error("no line is long");
          },
        };
        for (let at = 0; at < bytes.length; at += chunkBytes) {
          const length = bytes.copy(target, 0, at);
          framer.push(target.subarray(0, length), sink);
        }
        expect(found).toEqual(alone);
        expect(framer.lineNumber).toBe(texts.length + 1);
      }),
      { numRuns: 1000 },
    );
  });

  it("every written form is trusted with any ordinary payload", () => {
    const payload = objectJson.filter(
      (text) => !/"(?:parentId|data|content|message|customType)":/u.test(text),
    );
    const core = { id: "a1b2c3d4", parentId: null, timestamp: "2026-11-21T20:28:20.131Z" };
    fc.assert(
      fc.property(payload, (text) => {
        const value: unknown = JSON.parse(text);
        const { timestamp, id, parentId } = core;
        for (const record of [
          { type: "message", ...core, message: { role: "user", value } },
          { type: "note", ...core, value },
          { type: "custom", customType: "todo", data: value, ...core },
          { type: "custom_message", customType: "t", content: "x", details: value, ...core },
          { type: "message", timestamp, message: { role: "user", value }, id, parentId },
        ]) {
          expect(readEnvelope(lineOf(record))).not.toBeNull();
        }
      }),
    );
  });
});

describe("fault: fused lines", () => {
  const complete = Object.values(writtenForms).map(lineOf);
  const torn = [...complete, ...Object.values(otherForms).map(lineOf)];

  it.each([
    ["a complete one is never trusted, at any cut", readEnvelope, 25],
    ["a long complete one is not trusted by its ends", readLongEnvelope, 15],
  ])("a torn record joined to %s", (_, read, cuts) => {
    for (const first of torn) {
      for (const cut of sampled(1, first.length + 1, cuts)) {
        for (const second of complete) {
          const fused = Buffer.concat([first.subarray(0, cut), second]);
          expect(read(fused), fused.toString()).toBeNull();
        }
      }
    }
  });

  it("several torn records joined to a complete one are never trusted", () => {
    const some = fc.constantFrom(...torn);
    const prefix = fc.tuple(some, fc.nat()).map(([line, cut]) => {
      return line.subarray(0, 1 + (cut % line.length));
    });
    const last = fc.constantFrom(...complete);
    fc.assert(
      fc.property(fc.array(prefix, { minLength: 1, maxLength: 4 }), last, (prefixes, line) => {
        const fused = Buffer.concat([...prefixes, line, Buffer.from("\r")]);
        expect(readEnvelope(fused), fused.toString()).toBeNull();
      }),
      { numRuns: 5000 },
    );
  });

  it("a torn record of any kind joined to a complete one with hostile texts is not trusted", () => {
    fc.assert(
      fc.property(recordJson, fc.nat(), writtenJson, (first, cut, second) => {
        const fused = Buffer.from(first.slice(0, 1 + (cut % first.length)) + second);
        expect(readEnvelope(fused), fused.toString()).toBeNull();
      }),
      { numRuns: 5000 },
    );
  });
});
