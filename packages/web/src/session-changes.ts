/** The changes that a page may ask for. */
import { forkSession, openSession } from "@branchlog/core";
import { invalidArgument } from "@branchlog/core/files";
import { deleteSession } from "@branchlog/library";
import type { Change, ChangeResult, SessionItem } from "./api.ts";
import type { SessionDirectory } from "./session-directory.ts";

/** Decoding boundary: undefined for anything but a change. */
export function changeIn(text: string): Change | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, id, label, name }: Readonly<Record<string, unknown>> = { ...value };
  if (kind === "label" && typeof id === "string" && typeof label === "string") {
    return { kind, id, label };
  }
  if (kind === "name" && typeof name === "string") return { kind, name };
  if (kind === "fork" && typeof id === "string") return { kind, id };
  return kind === "delete" ? { kind } : undefined;
}

export async function changed(
  item: SessionItem,
  change: Change,
  directory: SessionDirectory,
): Promise<ChangeResult> {
  const { key } = item;
  const source = directory.sourceOf(item);
  switch (change.kind) {
    case "label":
    case "name": {
      const session =
        typeof source === "string" ? await openSession(source) : await openSession(source);
      try {
        if (change.kind === "name") await session.setName(change.name);
        else {
          const label = change.label === "" ? {} : { label: change.label };
          await session.append({ type: "label", targetId: change.id, ...label });
        }
      } finally {
        await session.close();
      }
      return { message: change.kind === "name" ? "Named." : "Labelled.", key };
    }
    case "fork": {
      const fork = await forkSession(source, { at: change.id });
      return {
        message: `Forked to ${fork.path}`,
        key: (await directory.listedKey(fork.path)) ?? null,
      };
    }
    case "delete": {
      if (typeof source !== "string") {
        throw invalidArgument("A session in a store is removed with branchlog store rm.");
      }
      const { operation } = await deleteSession(source);
      return { message: `Deleted. branchlog undo ${operation ?? ""} restores it.`, key: null };
    }
  }
}
