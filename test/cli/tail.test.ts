/** `branchlog tail`: what it begins with, what it leaves out, and how it follows. */
import { appendFileSync, copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture } from "./command-run.ts";
import { ended, following } from "./command-process.ts";

const realistic = fixture("realistic-session.jsonl");

it("tail starts with the last ten, the last N, or a revision", async () => {
  const all = (await branchlog(["entries", realistic])).out.split("\n").slice(0, -1);
  const tail = async (...words: string[]): Promise<string[]> =>
    (await branchlog(["tail", realistic, "--all", ...words])).out.split("\n").slice(0, -1);
  expect(await tail()).toEqual(all.slice(-10));
  expect(await tail("-n", "3")).toEqual(all.slice(-3));
  expect(await tail("-n", "0")).toEqual([]);
  expect(await tail("--last", "100000")).toEqual(all);
  expect(await tail("--from", "340")).toEqual(all.slice(339));
  expect((await branchlog(["tail", realistic, "--from", "1", "-n", "1"])).code).toBe(2);
});

it("tail --json prints entries as stored, with their revisions", async () => {
  const { out } = await branchlog(["tail", realistic, "--from", "1", "--json", "--all"]);
  const stored = readFileSync(realistic, "utf8").split("\n").slice(1, -1);
  const wanted = stored.map((line, at) => `{"revision":${at + 1},"entry":${line}}`);
  expect(out.split("\n").slice(0, -1)).toEqual(wanted);
});

it("tail omits hidden messages, unless --all is given", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path);
  for (const display of [true, false]) {
    const content = display ? "shown" : "hidden";
    await session.append({ type: "custom_message", customType: "x", content, display });
  }
  expect((await branchlog(["tail", path])).out).not.toContain("hidden");
  expect((await branchlog(["tail", path, "--all"])).out).toContain("hidden");
});

it("tail follows new entries, reports a replaced file, and ends when interrupted", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path);
  const say = (data: string): Promise<unknown> =>
    session.append({ type: "custom", customType: "x", data });
  await say("one");
  const { child, lines } = following(["tail", "-f", path]);
  let err = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  await lines(1);
  for (const data of ["two", "three"]) await say(data);
  const shown = await lines(3);
  expect(shown.map((line) => /one|two|three/u.exec(line)?.[0])).toEqual(["one", "two", "three"]);

  // The beginning of a line shows nothing.
  const last = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const next = last.replace(/"id":"\w+"/u, '"id":"later"').replace("three", "four");
  appendFileSync(path, next.slice(0, 30));
  appendFileSync(path, `${next.slice(30)}\n`);
  expect((await lines(4)).at(-1)).toContain("four");

  const other = `${path}.other`;
  copyFileSync(path, other);
  writeFileSync(other, readFileSync(path, "utf8").split("\n").slice(0, 2).join("\n").concat("\n"));
  renameSync(other, path);
  expect((await lines(5)).at(-1)).toBe(shown[0]);
  child.kill("SIGINT");
  expect(await ended(child)).toMatchObject({ code: 130 });
  expect(err).toContain("the file was replaced");
});

it("tail ends silently when its output is closed", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session = await createSession(path);
  await session.append({ type: "custom", customType: "x" });
  const { child, lines } = following(["tail", "-f", "--json", path]);
  await lines(1);
  child.stdout?.destroy();
  const end = ended(child);
  const writer = await openSession(path);
  // Its next write tells it.
  for (let n = 0; child.exitCode === null && n < 1000; n += 1) {
    await writer.append({ type: "custom", customType: "x", data: "y".repeat(1000) });
    await new Promise(setImmediate);
  }
  expect(await end).toMatchObject({ code: 0 });
});
