/** Which account of a provider served a session, by the entries of a path. Pure. */
import { isStoredObject } from "@branchlog/core/rows";

export interface CredentialPin {
  readonly hash: string;
  /** Epoch milliseconds; that of the last answer of the provider since. */
  readonly lastUsedAt: number;
}

/** By provider; of several pins the last counts. */
export function credentialPinsOf(path: readonly object[]): Map<string, CredentialPin> {
  const pins = new Map<string, CredentialPin>();
  for (const entry of path) {
    const type = textAt(entry, "type");
    const message: unknown = Reflect.get(entry, "message");
    if (type === "credential_pin") {
      const [provider, hash] = ["provider", "hash"].map((key) => textAt(entry, key));
      const lastUsedAt = Date.parse(textAt(entry, "timestamp") ?? "");
      if (provider !== undefined && hash !== undefined) pins.set(provider, { hash, lastUsedAt });
    } else if (type === "message" && isStoredObject(message)) {
      if (Reflect.get(message, "role") !== "assistant") continue;
      const provider = textAt(message, "provider") ?? "";
      const pin = pins.get(provider);
      const usedAt = Number(Reflect.get(message, "timestamp"));
      if (pin !== undefined && usedAt > pin.lastUsedAt) {
        pins.set(provider, { ...pin, lastUsedAt: usedAt });
      }
    }
  }
  return pins;
}

function textAt(record: object, key: string): string | undefined {
  const value: unknown = Reflect.get(record, key);
  return typeof value === "string" ? value : undefined;
}
