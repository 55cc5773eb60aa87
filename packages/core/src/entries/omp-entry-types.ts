/** Types of entries that only omp writes. Elsewhere they are kept and returned as stored. */

export const ompEntryTypes = [
  "title_change",
  "ttsr_injection",
  "session_init",
  "mode_change",
  "service_tier_change",
  "credential_pin",
  "model_usage",
  "reset_boundary",
  "archive",
] as const;

export type OmpEntryType = (typeof ompEntryTypes)[number];

const ompTypes: ReadonlySet<string> = new Set(ompEntryTypes);

export function isOmpEntryType(type: string): type is OmpEntryType {
  return ompTypes.has(type);
}
