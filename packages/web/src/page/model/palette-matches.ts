/** What the command palette offers for the text that is typed into it. */

export interface PaletteItem {
  readonly title: string;
  readonly detail: string;
  readonly run: () => void;
}

/** Items of which all words occur in title or detail; titles that begin with the text first. */
export function paletteMatches(
  items: readonly PaletteItem[],
  text: string,
  countMax: number,
): readonly PaletteItem[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = items.filter((item) => {
    const all = `${item.title}\n${item.detail}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const rank = ({ title }: PaletteItem): number => (title.toLowerCase().startsWith(wanted) ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, countMax);
}
