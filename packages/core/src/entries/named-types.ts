/**
 * Named types: those of pi, those of omp, and any type in a namespace of its own. Every other type
 * is unknown: its entries are kept, but no model sees them, as with a misspelt type, which is
 * therefore refused before it is stored. Pure.
 */
import { closestMatch } from "leven";
import { invalidArgument, shown } from "../argument-checks.ts";
import type { DraftFields } from "./encode-entry.ts";
import { isKnownEntryType, knownEntryTypes } from "./entry-types.ts";
import { isOmpEntryType, ompEntryTypes } from "./omp-entry-types.ts";

/** Text before a colon, the namespace, and text behind it. */
const namespacedForm = /^[^:]+:./su;

/** Whether pi or omp writes entries of that type, or it is a name in a namespace. */
export function isNamedType(type: string): boolean {
  return isKnownEntryType(type) || isOmpEntryType(type) || namespacedForm.test(type);
}

/** The type of pi or omp that was probably meant; undefined if none is near. */
export function nearestType(type: string): string | undefined {
  // A third of the letters: further away, a suggestion is a guess.
  const maxDistance = Math.ceil(type.length / 3);
  return closestMatch(type, [...knownEntryTypes, ...ompEntryTypes], { maxDistance });
}

/**
 * The draft, if its type is a named one.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the nearest type there is.
 */
export function requireNamedType(draft: DraftFields): DraftFields {
  const { type } = draft;
  if (isNamedType(type)) return draft;
  const nearest = nearestType(type);
  const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  throw invalidArgument(
    `The type of entry ${shown(type)} is unknown; nothing was written.${meant} ` +
      'A type of your own needs a namespace, as "x:note" has, or allowUnknownType: true ' +
      "(branchlog append --allow-unknown-type)",
  );
}
