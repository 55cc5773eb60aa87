/**
 * How deep a YAML text is nested, of its tokens: before anything goes through them that needs stack
 * for each level, so that it is refused or read whatever is left of the stack. Pure; iterative.
 */

/** A token with what is in it, as the parser's tokens are. */
export interface NestedToken {
  readonly offset: number;
  readonly value?: NestedToken | undefined;
  readonly items?: readonly {
    readonly key?: NestedToken | null | undefined;
    readonly value?: NestedToken | undefined;
  }[];
}

/** Where a text is nested more than `depthMax` levels deep; undefined if it is nowhere. */
export function tooDeepAt(token: NestedToken, depthMax: number): number | undefined {
  const open: { readonly token: NestedToken; readonly depth: number }[] = [{ token, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, items, offset } = next.token;
    const depth = items === undefined ? next.depth : next.depth + 1;
    if (depth > depthMax) return offset;
    if (value !== undefined) open.push({ token: value, depth });
    for (const item of items ?? []) {
      if (item.key) open.push({ token: item.key, depth });
      if (item.value !== undefined) open.push({ token: item.value, depth });
    }
  }
  return undefined;
}
