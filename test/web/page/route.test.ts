/** Places of the page and their addresses. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  costDimensions,
  parseRoute,
  routePath,
  searchPlace,
  sessionsPlace,
} from "../../../packages/web/src/page/model/route.ts";
import { facetNames } from "../../../packages/web/src/page/model/search-facets.ts";
import type { Route } from "../../../packages/web/src/page/model/route.ts";

const row = fc.nat(999_999_999);
const key = fc.string({ minLength: 1, unit: "grapheme" });
const route: fc.Arbitrary<Route> = fc.oneof(
  fc
    .record({
      text: fc.string(),
      agents: fc.uniqueArray(fc.constantFrom("pi", "claude", "codex")),
      by: fc.constantFrom("time" as const, "project" as const),
      isArchivedShown: fc.boolean(),
    })
    .map(sessionsPlace),
  fc.record({
    kind: fc.constant("session" as const),
    key,
    row: fc.option(row),
    entryId: fc.option(fc.string({ minLength: 1 })),
  }),
  fc.record({ kind: fc.constant("context" as const), key, row }),
  fc.record({ kind: fc.constant("compare" as const), key, from: row, to: row }),
  fc
    .record({
      query: fc.string(),
      isRegex: fc.boolean(),
      facets: fc.dictionary(fc.constantFrom(...facetNames), fc.string({ minLength: 1 })),
    })
    .map(searchPlace),
  fc.record(
    {
      kind: fc.constant("costs" as const),
      by: fc.constantFrom(...costDimensions),
      filter: fc.constantFrom({ day: "2026-01-05" }, { session: "k" }, { day: "d", session: "k" }),
    },
    { requiredKeys: ["kind", "by"] },
  ),
);

function parsed(address: string): Route {
  const at = address.indexOf("?");
  return at < 0 ? parseRoute(address, "") : parseRoute(address.slice(0, at), address.slice(at));
}

describe("parseRoute", () => {
  it("returns the route when its address was made by routePath", () => {
    fc.assert(
      fc.property(route, (any) => {
        expect(parsed(routePath(any))).toEqual(any);
      }),
    );
  });

  it.each(["/nowhere", "/s", "/s/k/else", "/s/k/context", "/s/k/compare?from=1", "/s/%E0%A4%A"])(
    "returns an absent route when the address is %s",
    (address) => {
      expect(parsed(address).kind).toBe("absent");
    },
  );

  it("ignores a row that is not an integer", () => {
    expect(parsed("/s/k?row=-1")).toEqual({ kind: "session", key: "k", row: null, entryId: null });
  });

  it("falls back to projects when the dimension of costs is unknown", () => {
    expect(parsed("/costs?by=moon")).toEqual({ kind: "costs", by: "project" });
  });
});
