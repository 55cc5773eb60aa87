/** The form in which a session name is stored. Pure; names already stored are left as they are. */

/** One line without surrounding white space: as pi stores names since 0.80.0. May be empty. */
export function normalizeName(name: string): string {
  return name.replace(/[\r\n]+/g, " ").trim();
}
