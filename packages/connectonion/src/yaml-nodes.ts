/**
 * A YAML document as nodes that know where they stand in the text, and the plain values they stand
 * for, as PyYAML's `safe_load` gives them. Aliases are followed as far as that is bounded. What
 * JSON cannot say, such as a time without quotes, is given as the text it is written as.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { BranchlogError } from "@branchlog/core";
import { aliasedNodesMax, documentBytesMax } from "./limits.ts";

/** Where a node stands: offsets in the text, `end` is after its last character. */
interface Place {
  readonly start: number;
  /** Of a block scalar, the start of the line after it. */
  readonly end: number;
}

/** Text, a number, a boolean or null. */
export interface YamlScalar extends Place {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  /** `block` ends with a line; `plain` has no quotes. */
  readonly style: "plain" | "quoted" | "block";
  /** Written without quotes, it is more than JSON can say. */
  readonly isBeyondJson: boolean;
}

/** A mapping, its pairs as they stand, repeated keys included. */
export interface YamlMap extends Place {
  readonly kind: "map";
  readonly isFlow: boolean;
  readonly pairs: readonly YamlPair[];
}

/** A key and what it stands for. */
export interface YamlPair {
  readonly key: YamlScalar;
  readonly value: YamlNode;
}

/** A sequence. */
export interface YamlList extends Place {
  readonly kind: "list";
  readonly isFlow: boolean;
  readonly items: readonly YamlNode[];
}

/** Another place at which a node counts. */
export interface YamlAlias extends Place {
  readonly kind: "alias";
  readonly target: YamlNode;
}

/** Any node. */
export type YamlNode = YamlScalar | YamlMap | YamlList | YamlAlias;

/** Says that a document is refused because of what stands at an offset. */
export type Refuse = (what: string, offset: number) => BranchlogError;

/** A key as the values have it: numbers, booleans and null as Python would print them in JSON. */
export function keyText({ value }: YamlScalar): string {
  return typeof value === "string" ? value : String(value);
}

/** The last value of a key in a mapping, as it counts in PyYAML; aliases are followed. */
export function pairOf(map: YamlMap, key: string): YamlPair | undefined {
  return map.pairs.findLast((pair) => keyText(pair.key) === key);
}

/** The node that an alias stands for, or the node itself. */
export function followed(node: YamlNode): Exclude<YamlNode, YamlAlias> {
  let at = node;
  while (at.kind === "alias") at = at.target;
  return at;
}

/**
 * The value that a node stands for. Whole numbers among the keys of a mapping come first, in
 * numeric order, as in every object of JavaScript.
 * @throws What `refuse` makes of aliases that stand for too much.
 */
export function valueOf(node: YamlNode, refuse: Refuse): JsonValue {
  let aliased = 0;
  let aliasedUnits = 0;
  const read = (at: YamlNode, isAliased: boolean): JsonValue => {
    if (isAliased) {
      aliased += 1;
      if (at.kind === "scalar" && typeof at.value === "string") aliasedUnits += at.value.length;
    }
    if (aliasedUnits > documentBytesMax) {
      throw refuse("its aliases stand for more text than a document may have", node.start);
    }
    if (aliased > aliasedNodesMax) {
      throw refuse(`its aliases stand for more than ${aliasedNodesMax} values`, node.start);
    }
    switch (at.kind) {
      case "alias":
        return read(at.target, true);
      case "scalar":
        return at.value;
      case "list":
        return at.items.map((item) => read(item, isAliased));
      case "map":
        return objectOf(at, (value) => read(value, isAliased));
    }
  };
  return read(node, false);
}

function objectOf({ pairs }: YamlMap, read: (node: YamlNode) => JsonValue): JsonObject {
  // Through entries, since a key may be `__proto__`.
  return Object.fromEntries(pairs.map(({ key, value }) => [keyText(key), read(value)]));
}
