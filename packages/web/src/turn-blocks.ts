/** Blocks of a conversation as the page gets them: long texts are cut, images are checked. Pure. */
import { useText } from "@branchlog/library/catalogs";
import type { CallItem, ConversationPage, TurnItem } from "@branchlog/library/catalogs";
import type { CallOutcome, TurnBlock, TurnPage } from "./api.ts";
import { imageBlock, indented, shortened, shownUnitsMax, shownUse } from "./blocks.ts";

/** Results are mostly not opened; one that is can be shown in whole. */
const resultUnitsMax = 6_000;

export function shownPage(page: ConversationPage): TurnPage {
  const sections = page.sections.map(({ items, ...facts }) => {
    return { ...facts, blocks: items.map((item) => shownItem(item)) };
  });
  return { ...page, sections };
}

function shownItem(item: TurnItem): TurnBlock {
  const { row } = item;
  switch (item.kind) {
    case "prompt":
    case "answer":
    case "error":
    case "note":
    case "thinking":
    case "compaction":
    case "branchSummary":
      return { ...item, ...shortened(item.text, shownUnitsMax) };
    case "call": {
      const { tool, use } = item;
      const result = outcomeOf(item.result);
      return { kind: "call", row, tool, use: shownUse(use), line: useText(use), result };
    }
    case "image":
      return { row, ...imageBlock(item.image) };
    case "data": {
      const { title } = item;
      return { kind: "data", row, title, ...shortened(indented(item.value), resultUnitsMax) };
    }
    case "mark":
      return item;
  }
}

function outcomeOf(result: CallItem["result"]): CallOutcome | null {
  if (result === null) return null;
  const images = result.images.map((image) => imageBlock(image));
  return { ...result, images, ...shortened(result.text, resultUnitsMax) };
}
