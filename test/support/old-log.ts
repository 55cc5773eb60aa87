/** Logs of version 1 that are long enough to be caught while they are migrated. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSession } from "@branchlog/core";

const fixture = fileURLToPath(new URL("../../fixtures/pi-v1.jsonl", import.meta.url));

/** Writes a log of version 1 with so many bytes at least. */
export function writeOldLog(path: string, bytes: number): Buffer {
  const [header = "", ...entries] = readFileSync(fixture, "utf8").trimEnd().split("\n");
  const lines = [header];
  for (let length = 0; length < bytes; length += entries.join("\n").length) lines.push(...entries);
  const text = Buffer.from(`${lines.join("\n")}\n`);
  writeFileSync(path, text);
  return text;
}

/** Every entry of a log, in the current form, as text. */
export async function entryTexts(path: string): Promise<string[]> {
  const session = await openSession(path, { access: "read" });
  const texts: string[] = [];
  for await (const entry of session.entries()) texts.push(JSON.stringify(entry));
  return texts;
}
