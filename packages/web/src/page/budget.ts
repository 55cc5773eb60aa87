/** The daily budget of a reader, in US dollars: kept in the browser. */
import { signal } from "@preact/signals";

const storageName = "branchlog-budget";

export const budget = signal<number | null>(savedBudget());

/** Null, and anything that is not a price: no budget. */
export function setBudget(text: string): void {
  budget.value = priceIn(text);
  try {
    localStorage.setItem(storageName, text.trim());
  } catch {
    // Without storage it lasts as long as the page.
  }
}

function savedBudget(): number | null {
  try {
    return priceIn(localStorage.getItem(storageName) ?? "");
  } catch {
    return null;
  }
}

function priceIn(text: string): number | null {
  const price = Number(text.trim());
  return price > 0 && Number.isFinite(price) ? price : null;
}
