/** JSON lines as a stream: framing, envelopes, decoding, files, and access inside huge records. */
export { LineFramer } from "./line-framer.ts";
export type { LineFramerOptions, LineRest, LineSink, LinesSink } from "./line-framer.ts";
export type { LongLine } from "./long-line.ts";
export { scanFlags, scanLines, scanLongLine } from "./record-scan.ts";
export type { ScannedKind, ScannedRows } from "./record-scan.ts";
export { decodeCounter, decodeLine, hasByteOrderMark, lineKind } from "./decode-line.ts";
export type { BadLineReason, DecodedLine, JsonObject, JsonValue, LineKind } from "./decode-line.ts";
export { openByteSource, readCounter } from "./byte-source.ts";
export type { ByteSource, FileSource } from "./byte-source.ts";
export { fill, reusedBuffers } from "./byte-pass.ts";
export type { FoundStep, Pass, Reads, ReadStep } from "./byte-pass.ts";
export { passBatches, runPass, runPassSync, runReads, runReadsSync } from "./pass-driver.ts";
export type { PassOptions } from "./pass-driver.ts";
export { itemsOf } from "./batch-items.ts";
export { scan, scanSync } from "./scan.ts";
export type { AsyncScanRange, ScanRange } from "./scan.ts";
export { nearestName, unknownOption } from "./option-names.ts";
export type { OptionNames } from "./option-names.ts";
export { lines, linesSync, records, recordsSync } from "./read-file.ts";
export type { ReadFileOptions } from "./read-file.ts";
export type { AnyFileLine, FileLine, FileRecord } from "./file-line.ts";
export { linesBackward, linesBackwardSync } from "./read-file-backward.ts";
export { readRange, readRangeAsync } from "./read-range.ts";
export { bodyStream, pick, pickStream } from "./large-value.ts";
export type { LargeValueOptions, PickOptions } from "./large-value.ts";
export type { ValuePath } from "./path-tracker.ts";
export type { JsonToken } from "./token-reader.ts";
export { ObjectScanner, isCutOffObject, isSpace, skipSpace } from "./object-scanner.ts";
export type { ScanStatus, Span } from "./object-scanner.ts";
export { readShallow } from "./shallow-record.ts";
export type { ShallowOptions } from "./shallow-record.ts";
export { followFile } from "./follow-file.ts";
export type { FollowEvent, FollowOptions } from "./follow-file.ts";
export type { CursorOptions } from "./file-cursor.ts";
export { watchDirectory } from "./directory-watch.ts";
export { EndableGenerator } from "./endable-generator.ts";
export type { DirectoryWatch, HintListener } from "./directory-watch.ts";
export { Observable, observableOf } from "./observable.ts";
export type { Subscriber, Subscription } from "./observable.ts";
export { follow$, lines$, records$ } from "./streams.ts";
export type { FollowStreamOptions, ReadStreamOptions } from "./streams.ts";
export {
  chunkBytesDefault,
  edgeBytesMax,
  lineBytesMaxDefault,
  lineEdgeBytes,
  pollMsDefault,
} from "./limits.ts";
