/** The contracts of the ports: checks by title, which each adapter has to pass. */
import { describe, it } from "vitest";

/** The checks of one adapter. Each sets up what it needs. */
export type Contract = Readonly<Record<string, () => void | Promise<void>>>;

/** One test for each check; `name` says which adapter has to pass them, and as what. */
export function itPasses(name: string, contract: Contract): void {
  describe(name, () => {
    for (const [title, check] of Object.entries(contract)) it(title, check);
  });
}
