/** What every source of ids must do. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { IdSource } from "@branchlog/core/testing";
import type { Contract } from "./contract.ts";

const entryId = /^[0-9a-f]{8}$/;
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const count = 20_000;

/** The suite. `setUp` is called inside each check. */
export function idSourceContract(setUp: () => IdSource): Contract {
  return {
    "mints entry ids of eight lower-case hex digits that seldom meet"() {
      const source = setUp();
      const ids = Array.from({ length: count }, () => source.entryId());
      deepEqual(
        ids.filter((id) => !entryId.test(id)),
        [],
      );
      // Expected are 0.05 pairs; five would be a fault of the source, not bad luck.
      ok(count - new Set(ids).size < 5);
    },

    "mints entry ids in which every digit takes every value"() {
      const source = setUp();
      const seen = Array.from({ length: 8 }, () => new Set<string>());
      for (let minted = 0; minted < 2_000; minted += 1) {
        for (const [place, digit] of source.entryId().split("").entries()) seen[place]?.add(digit);
      }
      deepEqual(
        seen.map(({ size }) => size),
        Array.from({ length: 8 }, () => 16),
      );
    },

    "mints ids of letters, digits, dashes and underscores, of any length"() {
      const source = setUp();
      for (const length of [0, 1, 3, 8, 21, 4097]) {
        match(source.urlSafeId(length), new RegExp(`^[A-Za-z0-9_-]{${length}}$`));
      }
      const ids = Array.from({ length: count }, () => source.urlSafeId(8));
      // One pair would be bad luck, once in a million runs; two would be a fault of the source.
      ok(count - new Set(ids).size < 2);
      equal(new Set(ids.join("")).size, 64);
    },

    "mints session ids that are UUIDv7 and only increase"() {
      const source = setUp();
      const ids = Array.from({ length: count }, () => source.sessionId());
      deepEqual(
        ids.filter((id) => !uuidV7.test(id)),
        [],
      );
      deepEqual(ids, [...new Set(ids)].sort());
    },

    "spreads jitter over [0, 1)"() {
      const source = setUp();
      const values = Array.from({ length: 2_000 }, () => source.jitter());
      deepEqual(
        values.filter((value) => value < 0 || value >= 1),
        [],
      );
      equal(new Set(values.map((value) => Math.floor(value * 10))).size, 10);
    },
  };
}
