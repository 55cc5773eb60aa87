/** What a call threw or rejected with, as the tests of faults want it: an error of ours, or a failure of the test. */
import { BranchlogError } from "@branchlog/core";

/** What `attempt` threw; undefined if it went through. */
export function thrownBy(attempt: () => unknown): unknown {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What a promise rejects with; undefined if it resolves. */
export async function rejection(attempt: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([attempt]);
  return outcome.status === "rejected" ? outcome.reason : undefined;
}

/** The error, which must be one of ours: nothing else may come out of the engine. */
export function typedError(error: unknown): BranchlogError {
  if (error instanceof BranchlogError) return error;
  throw new Error(`an error without a code: ${String(error)}`, { cause: error });
}
