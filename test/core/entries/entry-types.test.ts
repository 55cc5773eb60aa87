/** Which types of entries are known, and which one was meant; unions narrow by their tags. */
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { AgentMessage, SessionEntry } from "@branchlog/core";
import { isKnownEntry, normalizeName } from "@branchlog/core/entries";
import type {
  AnyEntry,
  CompactionEntry,
  KnownDraft,
  SessionMessageEntry,
  UserMessage,
} from "@branchlog/core/entries";
import type { OmpSessionEntry } from "@branchlog/agents/omp";
import {
  isNamedType,
  nearestType,
  requireNamedType,
} from "../../../packages/core/src/entries/draft-checks.ts";
import {
  isKnownEntryType,
  knownEntryTypes,
} from "../../../packages/core/src/entries/entry-types.ts";
import { ompEntryTypes } from "../../../packages/core/src/entries/omp-entry-types.ts";
import type { OmpEntryType } from "../../../packages/core/src/entries/omp-entry-types.ts";
import { thrownBy } from "../../support/typed-errors.ts";

const base = { id: "a", parentId: null, timestamp: "2026-01-02T03:04:05.678Z" };

describe("entries", () => {
  it("are identified by their type", () => {
    const foreign: AnyEntry = { type: "active_tools_change", ...base, tools: [] };
    const label: AnyEntry = { type: "label", targetId: "a", ...base };
    expect([foreign, label].map(isKnownEntry)).toEqual([false, true]);
    expect(["toString", "__proto__", "session", ""].filter(isKnownEntryType)).toEqual([]);
  });

  it("narrow by type, also after excluding unknown ones", () => {
    const narrow = (entry: AnyEntry): void => {
      if (!isKnownEntry(entry)) return;
      expectTypeOf(entry).toEqualTypeOf<SessionEntry>();
      if (entry.type === "compaction") expectTypeOf(entry).toEqualTypeOf<CompactionEntry>();
      if (entry.type === "message") expectTypeOf(entry).toEqualTypeOf<SessionMessageEntry>();
    };
    narrow({ type: "label", targetId: "a", ...base });
  });

  it("have a draft for every type", () => {
    expectTypeOf<KnownDraft["type"]>().toEqualTypeOf<SessionEntry["type"]>();
  });
});

it("messages narrow by their role", () => {
  const narrow = (message: AgentMessage): void => {
    if (message.role === "user") expectTypeOf(message).toEqualTypeOf<UserMessage>();
  };
  narrow({ role: "user", content: "x", timestamp: 0 });
});

it.each([
  ["  Refactor auth  ", "Refactor auth"],
  ["one\r\n\n two\rthree", "one  two three"],
  ["\n", ""],
  ["", ""],
])("normalizeName makes %j one line", (name, expected) => {
  expect(normalizeName(name)).toBe(expected);
});

const agentTypes: readonly string[] = [...knownEntryTypes, ...ompEntryTypes];

/** A type of pi or omp with one character added, omitted or replaced. */
const misspelt = fc
  .record({
    type: fc.constantFrom(...agentTypes),
    at: fc.nat(),
    edit: fc.constantFrom("add", "leave out", "replace"),
    unit: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }),
  })
  .map(({ type, at, edit, unit }) => {
    const place = at % (edit === "add" ? type.length + 1 : type.length);
    const rest = type.slice(edit === "add" ? place : place + 1);
    return `${type.slice(0, place)}${edit === "leave out" ? "" : unit}${rest}`;
  })
  .filter((type) => !isNamedType(type));

function isOneEditAway(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  if (short.length === long.length) return short.slice(same + 1) === long.slice(same + 1);
  return short.slice(same) === long.slice(same + 1);
}

describe("a type of an entry", () => {
  it.each([
    ["mesage", "message"],
    ["Message", "message"],
    ["lable", "label"],
    ["usgae", "usage"],
    ["customMessage", "custom_message"],
    ["thinkingLevelChange", "thinking_level_change"],
    ["title_chnage", "title_change"],
    [":note", undefined],
    ["note:", undefined],
    ["message:", "message"],
    ["note", undefined],
    ["todo_list", undefined],
    ["toString", undefined],
    ["__proto__", undefined],
    ["x".repeat(100_000), undefined],
  ])("is rejected when it is unknown: %.40s", (type, nearest) => {
    expect(isNamedType(type)).toBe(false);
    expect(nearestType(type)).toBe(nearest);
    const error = thrownBy(() => requireNamedType({ type, fields: {} }));
    expect(error).toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    const { message } = error as Error;
    expect(message).toContain(`nothing was written.${meant} A custom type needs a namespace`);
    expect(message).toContain("allowUnknownType: true");
    expect(message.length).toBeLessThan(400);
  });

  it("is accepted when pi or omp writes it", () => {
    expect(agentTypes.filter((type) => !isNamedType(type))).toEqual([]);
    expect(new Set(agentTypes).size).toBe(agentTypes.length);
  });

  it("is rejected with the nearest type when it is misspelt by one character (law)", () => {
    fc.assert(
      fc.property(misspelt, (type) => {
        const nearest = nearestType(type) ?? "";
        expect(agentTypes).toContain(nearest);
        expect(isOneEditAway(type, nearest)).toBe(true);
      }),
    );
  });

  it("is listed for omp when omp's types describe such an entry", () => {
    type Described = Exclude<OmpSessionEntry["type"], SessionEntry["type"]>;
    expectTypeOf<Exclude<Described, OmpEntryType>>().toEqualTypeOf<never>();
  });
});
