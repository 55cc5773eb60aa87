/** Maps rows of `session_message`, of opencode 2, to messages with parts. Pure. */
import { isObject, listAt, objectAt, stringAt } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { StoredMessage } from "./opencode-entries.ts";

/** @param data Its JSON, with its id. */
export function messageOfRow(
  row: Readonly<Record<string, unknown>>,
  data: JsonValue,
): StoredMessage {
  if (!isObject(data)) return { info: data, parts: [] };
  const time = { created: Number(row["time_created"]), ...timesIn(data) };
  const info = { ...data, time };
  const text = { type: "text", text: stringAt(data, "text") ?? "" };
  const id = stringAt(data, "id") ?? "";
  switch (row["type"]) {
    case "user": {
      const files = listAt(data, "files").filter(isObject);
      const parts = files.map((file) => ({ ...file, type: "file" }));
      return { info: { ...info, role: "user" }, parts: [text, ...parts] };
    }
    case "synthetic":
    case "system":
    case "skill":
      return { info: { ...info, role: "user" }, parts: [{ ...text, synthetic: true }] };
    case "assistant": {
      const { id: modelID = "", providerID = "" } = objectAt(data, "model") ?? {};
      const content = listAt(data, "content").map((part, at) => partOf(part, `${id}#${at}`));
      return { info: { ...info, role: "assistant", modelID, providerID }, parts: content };
    }
    case "shell": {
      // A page of it, of which the first is stored.
      const page = objectAt(data, "output") ?? {};
      const { output = data["output"] ?? "", truncated = false } = page;
      const input = { command: data["command"] ?? "" };
      const metadata = { exit: data["exit"] ?? null, truncated };
      const state = { status: "completed", input, output, metadata };
      return { info: { ...info, role: "shell" }, parts: [{ type: "tool", tool: "shell", state }] };
    }
    case "compaction":
      // One that failed has tokens, too.
      return {
        info: { ...info, role: `compaction-${stringAt(data, "status") ?? ""}` },
        parts: [{ ...text, text: stringAt(data, "summary") ?? "" }],
      };
    case "model-switched": {
      const { id: modelID = "", providerID = "" } = objectAt(data, "model") ?? {};
      return { info: { ...info, role: "model", model: { modelID, providerID } }, parts: [] };
    }
    default:
      return { info: { ...info, role: String(row["type"]) }, parts: [] };
  }
}

/** Without non-numbers. */
function timesIn(data: JsonObject): JsonObject {
  const times = Object.entries(objectAt(data, "time") ?? {});
  return Object.fromEntries(times.filter(([, time]) => typeof time === "number"));
}

function partOf(part: JsonValue, id: string): JsonValue {
  if (!isObject(part) || stringAt(part, "type") !== "tool") return part;
  const state = objectAt(part, "state");
  const said = listAt(state, "content").filter(isObject);
  const texts = said.flatMap((block) => stringAt(block, "text") ?? []);
  const error = objectAt(state, "error");
  const told = {
    output: texts.join("\n"),
    attachments: said.filter((block) => stringAt(block, "type") === "file"),
    ...(error === undefined ? {} : { error: stringAt(error, "message") ?? "" }),
    time: { end: objectAt(part, "time")?.["completed"] ?? null },
  };
  return {
    type: "tool",
    id,
    callID: part["id"] ?? "",
    tool: part["name"] ?? "",
    state: { ...state, ...told },
  };
}
