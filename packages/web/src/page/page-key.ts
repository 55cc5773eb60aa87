/**
 * What tells the server that a request is of its page: it comes with the first address, and is kept
 * for this origin. Cookies do not know the port, so other local servers get them as well.
 */
import { isExported } from "./exported.ts";

const storageName = "branchlog-key";
const form = /^#key=([\w-]+)$/;

export const pageKey: string = takenKey();

/** Out of the address at once: it is copied and bookmarked. */
function takenKey(): string {
  if (isExported) return "";
  const [, given] = form.exec(location.hash) ?? [];
  if (given !== undefined) history.replaceState(null, "", location.pathname + location.search);
  try {
    if (given !== undefined) localStorage.setItem(storageName, given);
    return given ?? localStorage.getItem(storageName) ?? "";
  } catch {
    // Without storage it lasts as long as this page.
    return given ?? "";
  }
}
