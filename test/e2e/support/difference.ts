/** Says where two JSON values differ, the order of keys included: whole sessions are too long to print. */

/** One place in which two values differ. */
export interface Difference {
  readonly path: string;
  readonly published: unknown;
  readonly ours: unknown;
}

const differencesMax = 8;
const textCharsMax = 300;

/** The first places in which two values differ; none if they are equal. Undefined is a value. */
export function differences(published: unknown, ours: unknown): Difference[] {
  const found: Difference[] = [];
  compare("", published, ours, found);
  return found;
}

function compare(path: string, published: unknown, ours: unknown, found: Difference[]): void {
  if (found.length >= differencesMax || Object.is(published, ours)) return;
  if (!isContainer(published) || !isContainer(ours)) {
    found.push({ path, ...shortened(published, ours) });
    return;
  }
  const keys = Object.keys(published);
  const ownKeys = Object.keys(ours);
  if (Array.isArray(published) !== Array.isArray(ours) || keys.join() !== ownKeys.join()) {
    found.push({ path: `${path} (keys)`, ...shortened(keys.join(), ownKeys.join()) });
  }
  for (const key of keys) {
    if (Object.hasOwn(ours, key)) compare(`${path}.${key}`, published[key], ours[key], found);
    else found.push({ path: `${path}.${key}`, ...shortened(published[key], undefined) });
  }
  for (const key of ownKeys) {
    if (Object.hasOwn(published, key)) continue;
    found.push({ path: `${path}.${key}`, ...shortened(undefined, ours[key]) });
  }
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Both as text, from shortly before where they part. */
function shortened(published: unknown, ours: unknown): Omit<Difference, "path"> {
  const [a, b] = [asText(published), asText(ours)];
  let parting = 0;
  while (parting < a.length && a[parting] === b[parting]) parting += 1;
  const from = Math.max(0, parting - 60);
  const part = (text: string): string => text.slice(from, from + textCharsMax);
  return { published: part(a), ours: part(b) };
}

function asText(value: unknown): string {
  return value === undefined ? "undefined" : JSON.stringify(value);
}
