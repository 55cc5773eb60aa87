/** Checks of the values of options, beyond those of the parser. Pure. */
import { UsageError } from "./failure.ts";
import { isAddress } from "./path-form.ts";

export function refuseBoth(one: string, its: unknown, other: string, others: unknown): void {
  if (its !== undefined && others !== undefined) throw new UsageError(`Give ${one} or ${other}.`);
}

/** The values of a comma-separated list; undefined: all. */
export function oneOfEach<T extends string>(
  name: string,
  given: string | undefined,
  all: readonly T[],
): readonly T[] | undefined {
  return given?.split(",").map((word) => {
    const found = all.find((one) => one === word.trim());
    if (found !== undefined) return found;
    throw new UsageError(`--${name} takes ${all.join(", ")}, separated by commas, not ${word}.`);
  });
}

export const sayWhere = "Specify the output: -o FILE, which must not exist yet.";

/** Standard output is rejected: a session gets its name in one step. */
export function newFile<T extends string | undefined>(output: T): T {
  if (output === "" || output === "-") throw new UsageError(sayWhere);
  if (output !== undefined && isAddress(output)) {
    throw new UsageError("-o takes a file; branchlog store push copies it into a store.");
  }
  return output;
}
