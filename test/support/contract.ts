/** Runs the contract suite of a port as tests, one for each check. */
import { describe, it } from "vitest";
import type { Contract } from "@branchlog/core/testing";

/** One test for each check; `name` says which adapter has to pass them, and as what. */
export function itPasses(name: string, contract: Contract): void {
  describe(name, () => {
    for (const [title, check] of Object.entries(contract)) it(title, check);
  });
}
