/** The likely intended word for a misspelt one. Pure. */
import { nearestName } from "@branchlog/streaming";

/** ` Did you mean list?`, or nothing if no name is near. */
export function nearest(word: string, names: readonly string[]): string {
  const dashes = /^-*/u.exec(word)?.[0] ?? "";
  // The dashes of an option do not count as common letters.
  const bare = word.slice(dashes.length).replace(/=.*$/su, "");
  const alike = names.filter((name) => name.startsWith("-") === dashes.length > 0);
  const meant = nearestName(
    bare,
    alike.map((name) => name.replace(/^-+/u, "")),
  );
  const found = alike.find((name) => name.replace(/^-+/u, "") === meant);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}
