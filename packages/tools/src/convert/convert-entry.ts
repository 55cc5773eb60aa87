/** Converts a line to another agent's dialect; members without an equivalent there stay. Pure. */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import {
  currentVersion,
  dialectKey,
  dialectOfEntry,
  dialectOfLog,
  readHeader,
  withMembers,
} from "@branchlog/core/rows";
import type { MemberChanges, NewValue } from "@branchlog/core/rows";

export type ConversionTarget = "pi" | "omp";

export const convertibleTypes: ReadonlySet<string> = new Set([
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "session_info",
  "title_change",
]);

export interface LineSurroundings {
  readonly nameBefore?: string | undefined;
  /** For {@link replayedThrough}: the entry that follows it on the path to the compaction. */
  readonly keptFrom?: string | undefined;
}

export function convertLine(
  line: Buffer,
  value: JsonObject,
  to: ConversionTarget,
  around: LineSurroundings,
): Buffer {
  const changes = to === "omp" ? forOmp(value, around.nameBefore) : forPi(value, around);
  return changes === unchanged ? line : withMembers(line, changes);
}

/** "" removes the name. */
export function nameIn(value: JsonObject): string | undefined {
  const { type } = value;
  const name = type === "session_info" ? value["name"] : undefined;
  const title = type === "title_change" ? value["title"] : undefined;
  if (typeof name === "string") return name;
  return typeof title === "string" ? title : undefined;
}

/** Undefined unless only the replay marks the entries kept by a compaction of omp. */
export function replayedThrough(value: JsonObject): string | undefined {
  const { type, firstKeptEntryId, providerReplayThroughEntryId: replayed } = value;
  const isAlone = type === "compaction" && firstKeptEntryId === "";
  return isAlone && typeof replayed === "string" ? replayed : undefined;
}

/** In the current version. omp has the name as title. */
export function convertHeader(
  line: Buffer,
  { version, to, name }: { version: number; to: ConversionTarget; name: string | undefined },
): Buffer {
  const set: NewValue[] = [];
  if (version < currentVersion) set.push(["version", String(currentVersion)]);
  if (to === "omp" && name !== undefined) set.push(["title", JSON.stringify(name)]);
  const stored = to === "pi" ? decodeLine(line) : undefined;
  // A title that is not a string is not changed.
  const isTitled = stored?.ok === true && typeof stored.value["title"] === "string";
  return withMembers(line, { set, replaced: isTitled ? [["title", []]] : [] });
}

/** Undefined if both agents write it so. */
export function dialectOfConverted(
  value: JsonObject,
  to: ConversionTarget,
): DialectName | undefined {
  const line = Buffer.from(JSON.stringify(value));
  const converted = decodeLine(convertLine(line, value, to, {}));
  return converted.ok ? dialectOfEntry(converted.value) : undefined;
}

/** Marks the dialect if the rest of the log would indicate the other agent. */
export function withDialect(
  line: Buffer,
  to: ConversionTarget,
  evidence: { readonly hasTitleSlot: boolean; readonly ofEntries: DialectName | undefined },
): Buffer {
  const plain = withMembers(line, { replaced: [[dialectKey, []]] });
  const decoded = decodeLine(plain);
  const reading = decoded.ok ? readHeader(decoded.value) : undefined;
  if (reading?.kind !== "header") return line;
  if (dialectOfLog({ ...evidence, header: reading.header }) === to) return plain;
  return withMembers(plain, { set: [[dialectKey, JSON.stringify(to)]] });
}

const unchanged = changed();

function changed(...replaced: MemberChanges["replaced"]): MemberChanges {
  return { replaced, set: [] };
}

function forOmp(value: JsonObject, nameBefore: string | undefined): MemberChanges {
  switch (value["type"]) {
    case "model_change":
      return joinedModel(value);
    case "compaction":
    case "branch_summary":
      return renamed(value, "fromHook", "fromExtension");
    case "session_info":
      return titleChange(value, nameBefore);
    default:
      return unchanged;
  }
}

function forPi(value: JsonObject, { nameBefore, keptFrom }: LineSurroundings): MemberChanges {
  switch (value["type"]) {
    case "model_change":
      return splitModel(value);
    case "thinking_level_change":
      return namedLevel(value);
    case "compaction":
      return keptByName(value, keptFrom);
    case "branch_summary":
      return renamed(value, "fromExtension", "fromHook");
    case "title_change":
      return sessionInfo(value, nameBefore);
    default:
      return unchanged;
  }
}

/** A provider with a slash could not be separated from its model again. */
function joinedModel(value: JsonObject): MemberChanges {
  const { provider, modelId } = value;
  if (typeof provider !== "string" || typeof modelId !== "string") return unchanged;
  if (provider === "" || provider.includes("/") || Object.hasOwn(value, "model")) return unchanged;
  const model = JSON.stringify(`${provider}/${modelId}`);
  return changed(["provider", [["model", model]]], ["modelId", []]);
}

/** pi has one model: those of other roles stay. */
function splitModel(value: JsonObject): MemberChanges {
  const { model, role = "default" } = value;
  if (typeof model !== "string" || role !== "default") return unchanged;
  if (Object.hasOwn(value, "provider") || Object.hasOwn(value, "modelId")) return unchanged;
  const slash = model.indexOf("/");
  if (slash < 1) return unchanged;
  const provider: NewValue = ["provider", JSON.stringify(model.slice(0, slash))];
  const modelId: NewValue = ["modelId", JSON.stringify(model.slice(slash + 1))];
  return changed(["model", [provider, modelId]]);
}

function namedLevel({ thinkingLevel }: JsonObject): MemberChanges {
  const off: NewValue = ["thinkingLevel", '"off"'];
  if (thinkingLevel === null) return changed(["thinkingLevel", [off]]);
  return thinkingLevel === undefined ? { replaced: [], set: [off] } : unchanged;
}

function renamed(value: JsonObject, from: string, to: string): MemberChanges {
  const flag = value[from];
  if (flag === undefined || Object.hasOwn(value, to)) return unchanged;
  return changed([from, [[to, JSON.stringify(flag)]]]);
}

/** pi needs the id of the first kept entry. */
function keptByName(value: JsonObject, keptFrom: string | undefined): MemberChanges {
  const flag = renamed(value, "fromExtension", "fromHook");
  if (keptFrom === undefined || replayedThrough(value) === undefined) return flag;
  const first: NewValue = ["firstKeptEntryId", JSON.stringify(keptFrom)];
  return changed(...flag.replaced, ["firstKeptEntryId", [first]]);
}

function titleChange(value: JsonObject, nameBefore: string | undefined): MemberChanges {
  const name = nameIn(value);
  if (name === undefined || Object.hasOwn(value, "title")) return unchanged;
  const members: NewValue[] = [["title", JSON.stringify(name)]];
  if (nameBefore && !Object.hasOwn(value, "previousTitle")) {
    members.push(["previousTitle", JSON.stringify(nameBefore)]);
  }
  if (!Object.hasOwn(value, "source")) members.push(["source", '"user"']);
  return changed(["type", [["type", '"title_change"']]], ["name", members]);
}

/** Members that the conversion to omp would add again are removed. */
function sessionInfo(value: JsonObject, nameBefore: string | undefined): MemberChanges {
  const name = nameIn(value);
  if (name === undefined || Object.hasOwn(value, "name")) return unchanged;
  const isRepeated = nameBefore && value["previousTitle"] === nameBefore;
  return changed(
    ["type", [["type", '"session_info"']]],
    ["title", [["name", JSON.stringify(name)]]],
    ...(isRepeated ? ([["previousTitle", []]] as const) : []),
    ...(value["source"] === "user" ? ([["source", []]] as const) : []),
  );
}
