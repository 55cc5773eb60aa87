/**
 * A document as text in the form of the format: three sections, all turns before all messages, so
 * that the first lines of the file show every turn. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { itemsText, layouts, pairText } from "./block-text.ts";
import { isObject } from "./read-document.ts";
import { messagesText } from "./turn-splice.ts";

const sections = {
  metadata: "# ===== METADATA (compact) =====\n",
  turns: "# ===== TURNS SUMMARY (all turns visible at a glance) =====\n",
  detail: "# ===== DETAIL SECTION (scroll down) =====\n",
};

/** The text of a document that says this, keys in their order. */
export function documentText(data: JsonObject): string {
  let text = sections.metadata;
  let isDetail = false;
  for (const [key, value] of Object.entries(data)) {
    const beginsDetail: boolean = (key === "system_prompt" || key === "messages") && !isDetail;
    if (key === "turns") text += `\n${sections.turns}`;
    else if (beginsDetail) text += `\n${sections.detail}`;
    else if (key === "messages") text += "\n";
    isDetail ||= beginsDetail;
    text += sectionText(key, value);
  }
  return text;
}

function sectionText(key: string, value: JsonValue): string {
  const isTurns = key === "turns" && Array.isArray(value) && value.length > 0;
  if (isTurns) return `turns:\n${itemsText(value, layouts.ideal.listIndent, layouts.ideal)}`;
  const isMessages = key === "messages" && isObject(value) && Object.keys(value).length > 0;
  return isMessages
    ? `messages:\n${turnsOfMessages(value)}`
    : pairText(key, value, 0, layouts.ideal);
}

/** The messages by turn, an empty line between the turns. Numbers are keys of numbers. */
function turnsOfMessages(messages: JsonObject): string {
  const turns = Object.entries(messages).map(([turn, list]) => {
    const isNumber = /^(?:0|[1-9]\d*)$/.test(turn);
    if (!isNumber || !Array.isArray(list)) return pairText(turn, list, 2, layouts.ideal, isNumber);
    return messagesText(turn, list, 2, layouts.ideal);
  });
  return turns.join("\n");
}
