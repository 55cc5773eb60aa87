/**
 * Run by huge-line.test.ts in a separate process, on the built package: makes a file with a
 * line of so many bytes, indexes it, picks from it and streams it, and reports what it found and
 * its peak memory.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import { peakRssBytes } from "../support/peak-memory.mjs";

const [packageUrl, path, payload] = process.argv.slice(2);
const streaming = await import(packageUrl);
const { LineFramer, openByteSource, pick, readRangeAsync, scanLines } = streaming;
const { bodyStream, readRange, readShallow, runSync, scan, scanLongLine } = streaming;

const payloadBytes = Number(payload);
const core = '"id":"a1b2c3d4","parentId":null,"timestamp":"2026-11-21T20:28:20.131Z"';
writeFile();
const found = await readFile();
process.stdout.write(JSON.stringify({ ...found, peakBytes: peakRssBytes() }));

function writeFile() {
  const file = openSync(path, "wx");
  const piece = Buffer.alloc(
    1024 * 1024,
    "iVBORw0KGgoAAAANSUhEUgAAB9AAAAPoCAYAAACGXmWqAAAAAXNSR0IArs4c6Q",
  );
  writeSync(file, '{"type":"label","id":"1","parentId":null,"timestamp":"2026"}\n');
  writeSync(file, `{"type":"message",${core},"message":{"role":"user","content":[{"data":"`);
  for (let written = 0; written < payloadBytes; written += piece.length) writeSync(file, piece);
  writeSync(file, '","mimeType":"image/png"}],"model":"claude"}}\n');
  writeSync(file, '{"type":"label","id":"2","parentId":null,"timestamp":"2026"}\n');
  closeSync(file);
}

async function readFile() {
  const source = openByteSource(path);
  let long;
  let ids = "";
  const take = (rows) => {
    for (let row = 0; row < rows.count; row += 1) {
      const hasWords = (rows.flags[row] & 64) !== 0;
      const { bytes, idStart, idEnd } = rows;
      ids += hasWords ? rows.id[row].toString(16) : bytes.latin1Slice(idStart[row], idEnd[row]);
    }
  };
  const sink = {
    line: (bytes, start, end) => scanLines(bytes, start, end, take),
    longLine(line) {
      long = line;
      scanLongLine(line, take);
    },
  };
  runSync(scan(source, new LineFramer(), sink, { from: 0, to: source.sizeSync() }));
  const body = () => readRangeAsync(source, long.offset, long.length);
  const model = await pick(body(), ["message", "model"]);
  let tokens = 0;
  let stringLength = 0;
  let longestString = 0;
  for await (const token of bodyStream(body())) {
    if (token.name === "startString") stringLength = 0;
    if (token.name === "stringChunk") stringLength += token.value.length;
    else tokens += 1;
    longestString = Math.max(longestString, stringLength);
  }
  const shallow = readShallow(readRange(source, long.offset, long.length), { open: ["message"] });
  source.closeSync();
  return { ids, length: long.length, model, longestString, tokens, shallow };
}
