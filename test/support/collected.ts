/** What comes one by one, as a list. */

export async function collected<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The ids of entries, in the order in which they come. */
export async function idsOf(entries: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  return (await collected(entries)).map(({ id }) => id);
}
