/** The answers in a page that is a file of its own, made by `branchlog export --to html`. */

interface AnswerPlace {
  readonly element: Element;
  readonly at: number;
}

const places = new Map<string, AnswerPlace>();
for (const element of document.querySelectorAll("script[data-addresses]")) {
  const addresses = element.getAttribute("data-addresses")?.split(" ") ?? [];
  for (const [at, address] of addresses.entries()) places.set(address, { element, at });
}

export const isExported: boolean = places.size > 0;

/** Throws for answers that are not in the file. */
export function exportedAnswer(address: string): unknown {
  const place = places.get(address);
  if (place === undefined) {
    throw new Error("This file does not contain that. branchlog serve shows the whole session.");
  }
  // Decoding boundary: our own export. Few groups are asked for twice.
  const answers = JSON.parse(place.element.textContent) as readonly unknown[];
  return answers[place.at];
}
