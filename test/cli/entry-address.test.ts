/** Which entry a word means: by id, label, beginning, place or ancestry. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findEntry } from "../../packages/cli/src/entry-address.ts";
import type { AddressedEntries } from "../../packages/cli/src/entry-address.ts";

type Parents = Readonly<Record<string, string | null>>;

interface Marks {
  readonly leaf?: string | null;
  readonly tail?: string | null;
  readonly labels?: AddressedEntries["labels"];
}

function entriesOf(
  parents: Parents,
  { leaf = null, tail = null, labels = [] }: Marks = {},
): AddressedEntries {
  return {
    leaf,
    tail,
    labels,
    has: (id) => Object.hasOwn(parents, id),
    parentOf: (id) => parents[id] ?? null,
    ids: () => Object.keys(parents),
  };
}

const chain = entriesOf(
  { abc1: null, abd2: "abc1", e3: "abd2", "f~1": "e3", orphan: "gone" },
  {
    leaf: "e3",
    tail: "orphan",
    labels: [
      ["abd2", "good state"],
      ["e3", "x"],
      ["f~1", "x"],
    ],
  },
);

function inAnyOrder(ids: readonly string[]): unknown {
  return expect.toSatisfy(
    (found: readonly string[]) => String(found.toSorted()) === String(ids.toSorted()),
  );
}

describe("the name of an entry", () => {
  it.each([
    ["abc1", "abc1"],
    ["abd", "abd2"],
    ["good state", "abd2"],
    ["@leaf", "e3"],
    ["@tail", "orphan"],
    ["~", "abd2"],
    ["~1", "abd2"],
    ["~2", "abc1"],
    ["~0", "e3"],
    ["@leaf~2", "abc1"],
    ["e3~1~1", "abc1"],
    ["good state~", "abc1"],
    ["f~1", "f~1"],
    ["f~1~1", "e3"],
  ])("means an entry: %s", (word, id) => {
    expect(findEntry(word, chain)).toEqual({ kind: "entry", id });
  });

  it.each([
    ["ab", ["abc1", "abd2"]],
    ["ab~1", ["abc1", "abd2"]],
    ["x", ["e3", "f~1"]],
  ])("is rejected when it is ambiguous: %s", (word, ids) => {
    expect(findEntry(word, chain)).toEqual({ kind: "several", ids });
  });

  it.each([
    ["zzz", /no id starts with it/],
    ["", /empty/],
    ["~3", /e3 has only 2 ancestors/],
    ["abd2~2", /abd2 has only 1 ancestor/],
    ["abc1~1", /abc1 is a root/],
    ["orphan~1", /the parent of orphan is missing/],
    ["zzz~1", /no id starts with it/],
    ["e3~x", /no id starts with it/],
  ])("matches no entry, with a reason: %s", (word, reason) => {
    expect(findEntry(word, chain)).toEqual({
      kind: "none",
      reason: expect.stringMatching(reason) as unknown,
    });
  });

  it("matches no entry at a leaf or tail without entries", () => {
    for (const word of ["@leaf", "@tail", "~1"]) {
      expect(findEntry(word, entriesOf({})).kind).toBe("none");
    }
  });

  it("ends on a cycle of parents", () => {
    const cycle = entriesOf({ a: "b", b: "a" });
    expect(findEntry("a~1001", cycle)).toEqual({ kind: "entry", id: "b" });
  });

  it("law: an id means its entry, its prefixes match it or several, its N-th parent is N steps away", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[0-9a-c~@]{1,4}$/), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(ids, fc.nat(), fc.nat({ max: 12 }), (all, pick, steps) => {
        // A chain: each entry is below the one before it.
        const entries = entriesOf(
          Object.fromEntries(all.map((id, at) => [id, all[at - 1] ?? null])),
        );
        const at = pick % all.length;
        const id = all[at] ?? "";
        expect(findEntry(id, entries)).toEqual({ kind: "entry", id });
        const prefix = id.slice(0, 1);
        const found = findEntry(prefix, entries);
        const begun = all.filter((one) => one.startsWith(prefix));
        const isPlain = !prefix.startsWith("~") && !prefix.startsWith("@");
        if (isPlain && all.includes(prefix)) expect(found).toEqual({ kind: "entry", id: prefix });
        else if (isPlain && begun.length === 1) expect(found).toEqual({ kind: "entry", id });
        // An object has keys that look like numbers in front.
        else if (isPlain) expect(found).toEqual({ kind: "several", ids: inAnyOrder(begun) });
        const up = findEntry(`${id}~${steps}`, entries);
        const isId =
          all.includes(`${id}~${steps}`) || all.some((one) => one.startsWith(`${id}~${steps}`));
        if (isId) return;
        const expected = all[at - steps];
        if (expected === undefined) expect(up.kind).toBe("none");
        else expect(up).toEqual({ kind: "entry", id: expected });
      }),
    );
  });
});
