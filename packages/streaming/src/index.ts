/** JSON lines as a stream: framing, envelopes, decoding, files, and access inside huge records. */
export { LineFramer } from "./line-framer.ts";
export type { LineFramerOptions, LineRest, LineSink, LinesSink } from "./line-framer.ts";
export type { LongLine } from "./long-line.ts";
export { scanFlags, scanLines, scanLongLine } from "./record-scan.ts";
export type {
  CheckedRecord,
  ScannedAnswer,
  ScannedKind,
  ScannedModel,
  ScannedRows,
} from "./record-scan.ts";
export { decodeCounter, decodeLine, hasByteOrderMark, lineKind } from "./decode-line.ts";
export type { BadLineReason, DecodedLine, JsonObject, JsonValue, LineKind } from "./decode-line.ts";
export { openByteSource, readCounter } from "./byte-source.ts";
export type { ByteSource, FileSource } from "./byte-source.ts";
export { batches, io, items, itemsSync, pause, portStep, runAsync, runSync } from "./steps.ts";
export type { Answer, FindingSteps, FoundStep, ReadStep, Sleeper, Step, Steps } from "./steps.ts";
export {
  fill,
  readFully,
  readFullySync,
  readOf,
  readRange,
  readRangeAsync,
  readingAhead,
  reusedBuffers,
  scan,
} from "./reads.ts";
export type { ChunkRange, ScanRange } from "./reads.ts";
export { itemsOf } from "./batch-items.ts";
export { nearestName, unknownOption } from "./option-names.ts";
export type { OptionNames } from "./option-names.ts";
export { lines, records, recordsSync } from "./read-file.ts";
export type { FileLine, FileRecord, ReadFileOptions } from "./read-file.ts";
export { bodyStream, pick } from "./large-value.ts";
export type { JsonToken, LargeValueOptions, PickOptions, ValuePath } from "./large-value.ts";
export { ObjectScanner, isSpace, skipSpace } from "./object-scanner.ts";
export type { ScanStatus, Span } from "./object-scanner.ts";
export { readShallow } from "./shallow-record.ts";
export type { ShallowOptions } from "./shallow-record.ts";
export { watchDirectory } from "./directory-watch.ts";
export type { DirectoryWatch, HintListener } from "./directory-watch.ts";
export { chunkBytesDefault, lineBytesMaxDefault, lineEdgeBytes, pollMsDefault } from "./limits.ts";
