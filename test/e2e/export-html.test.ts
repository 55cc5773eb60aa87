/** Proof by a real client: pi exports the same pages with our session layer as with its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { differences } from "./support/difference.ts";
import { NormalForm } from "./support/normal-form.ts";
import { bothPis } from "./support/pi-program.ts";
import type { PiProgram } from "./support/pi-program.ts";
import { runPi } from "./support/pi-run.ts";
import { fixture, sandbox } from "./support/sandbox.ts";

const pis = bothPis();

/** A page in two parts: the session in it, and everything else. */
async function exported(pi: PiProgram, text: string): Promise<object> {
  const place = sandbox();
  const file = join(place.sessions, "session.jsonl");
  const page = join(place.root, "page.html");
  writeFileSync(file, text);
  await runPi(pi, place, ["--export", file, page]);
  const html = readFileSync(page, "utf8");
  const [whole = "", data = ""] = /<script id="session-data"[^>]*>([^<]*)</.exec(html) ?? [];
  expect(data).not.toBe("");
  const form = new NormalForm(place, [text]);
  const session: unknown = JSON.parse(Buffer.from(data, "base64").toString());
  return { session: form.of(session), frame: html.replace(whole, "") };
}

it.each([
  "seed-pi",
  "realistic-session",
  "pi-branches",
  "pi-compactions-overlapping",
  "pi-v1",
  "pi-v2",
])("Verifies: P20. pi --export gives the same page of %s", async (name) => {
  const text = fixture(name);
  const published = await exported(pis.original, text);
  expect(differences(published, await exported(pis.replaced, text))).toEqual([]);
});
