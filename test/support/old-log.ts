/** Logs of version 1 that are long enough to be caught while they are migrated. */
import { writeFileSync } from "node:fs";
import { openSession } from "@branchlog/core";
import { collected } from "./collected.ts";
import { fixtureBytes } from "./fixture.ts";

/** Writes a log of version 1 with so many bytes at least. */
export function writeOldLog(path: string, bytes: number): Buffer {
  const [header = "", ...entries] = fixtureBytes("pi-v1").toString().trimEnd().split("\n");
  const lines = [header];
  for (let length = 0; length < bytes; length += entries.join("\n").length) lines.push(...entries);
  const text = Buffer.from(`${lines.join("\n")}\n`);
  writeFileSync(path, text);
  return text;
}

/** Every entry of a log, in the current form, as text. */
export async function entryTexts(path: string): Promise<string[]> {
  const session = await openSession(path, { access: "read" });
  return (await collected(session.entries())).map((entry) => JSON.stringify(entry));
}
