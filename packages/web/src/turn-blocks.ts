/** Blocks of a conversation as the page gets them: long texts are cut, images are checked. Pure. */
import { useText } from "@branchlog/library/catalogs";
import type { CallItem, TurnItem } from "@branchlog/library/catalogs";
import type { CallOutcome, TurnBlock } from "./api.ts";
import { imageBlock, indented, shortened, shownUnitsMax, shownUse } from "./blocks.ts";

/** Results are mostly not opened; one that is can be shown in whole. */
const resultUnitsMax = 6_000;

export function shownItem(item: TurnItem): TurnBlock {
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
    case "call":
      return {
        ...item,
        use: shownUse(item.use),
        line: useText(item.use),
        result: outcomeOf(item.result),
      };
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
