/** Addresses of stores: what counts as one, and that no password in one is ever printed. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, forkSession, openSession } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import { sessions$ } from "@branchlog/library/live";
import { SessionManager as OmpManager } from "@branchlog/agents/omp";
import { SessionManager } from "@branchlog/agents/pi";
import { postgresStore, storeAddress } from "@branchlog/postgres";
import "@branchlog/postgres/blocking";
import { firstValueFrom } from "rxjs";
import { branchlog, fixture } from "../cli/command-run.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { dataBeside } from "../support/data-file.ts";

const secret = "SECRET";

/** Addresses that hold a password, well-formed or not. */
const malformed = dataBeside(import.meta.url, "malformed-addresses.json") as readonly string[];

const odd = fc
  .array(fc.constantFrom("@", ":", "/", "?", "#", "%", " ", "\\", "'", '"', "&", "=", "a", "1"), {
    maxLength: 3,
  })
  .map((letters) => letters.join(""));

const password = fc.tuple(odd, odd).map(([before, behind]) => before + secret + behind);

const anyAddress = fc
  .tuple(
    fc.constantFrom(
      "postgres://",
      "Postgres://",
      "postgresql:/",
      "postgres:",
      "mysql://",
      "x+y://",
    ),
    fc.constantFrom("", "u", "me.too", "u%40"),
    password,
    fc.constantFrom("@h", "@h:1", "@127.0.0.1:1", "@[::1]:1", "@h:99999", "@", "@[", "@h@i"),
    fc.constantFrom("", "/db", "/db/x", "/db?schema=s", "?x=y", "/db#n", "#n", "/db?listen=maybe"),
  )
  .map(([scheme, user, word, host, rest]) => `${scheme}${user}:${word}${host}${rest}`);

async function textOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return "";
  } catch (error) {
    const { message, stack, path, cause } = error as Error & { path?: string };
    return [message, stack, path, cause, JSON.stringify(error)].map(String).join("\n");
  }
}

describe("an address of a store", () => {
  it("has options of the store, and options of the server", () => {
    const url = "Postgres://me:p%40ss@db.example:6432/team?schema=s&listen=false&sslmode=require";
    expect(
      storeAddress(`${url}&answer_wait=2s&lock_wait=1min&statement_timeout=500#a%2Db`),
    ).toEqual({
      connection: "postgres://me:p%40ss@db.example:6432/team?sslmode=require&statement_timeout=500",
      schema: "s",
      listen: false,
      answerWaitMs: 2_000,
      lockWaitMs: 60_000,
      shown: "postgres://me@db.example:6432/team?schema=s",
      name: "a-b",
    });
    expect(storeAddress("postgresql:///db?host=/run/postgresql&lock_wait=250")).toMatchObject({
      schema: "branchlog",
      lockWaitMs: 250,
    });
  });

  it.each(malformed)("is rejected without showing its password: %s", async (address) => {
    for (const call of [() => storeAddress(address), () => postgresStore(address)]) {
      const text = await textOf(call);
      expect(text).toMatch(/address/);
      expect(text).not.toContain(secret);
    }
  });

  it("shows no password in any error of any command", async () => {
    const commands = (address: string): readonly (readonly string[])[] => [
      [address],
      ["info", address],
      ["list", address],
      ["list", address, "--json"],
      ["search", "x", address],
      ["watch", address, "--json"],
      ["verify", address, "--json"],
      ["verify", address, address],
      ["store", "ls", address],
      ["store", "pull", address, "-o", "x.jsonl"],
      ["store", "push", fixture("pi-linear.jsonl"), address],
      ["fork", fixture("pi-linear.jsonl"), "-o", address],
      ["export", fixture("pi-linear.jsonl"), `--output=${address}`],
      ["create", address],
      ["delete", address, "--yes"],
      ["archive", address],
      ["mv", address, address],
      ["import", address, "-o", "y.jsonl"],
      ["stats", address],
      ["diff", address, address],
      ["serve", address, address],
      ["no-such-command", address],
      ["info", `--no-such-option=${address}`],
    ];
    for (const words of malformed.flatMap(commands)) {
      const { code, out, err } = await branchlog([...words]);
      expect(code, words.join(" ")).not.toBe(0);
      expect(out + err, words.join(" ")).not.toContain(secret);
    }
  });

  it("shows no password in any error of the library", async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, async (address) => {
        for (const call of [
          () => storeAddress(address),
          () => postgresStore(address).address,
          () => shownOf(address),
        ]) {
          expect(await textOf(call), address).not.toContain(secret);
        }
      }),
    );
  });

  it.each(["mysql://u:SECRET@h/db", "postgres://u:SECRET@h:99999/db#s"])(
    "is never a path: %s",
    async (address) => {
      const directory = temporaryDirectory();
      const before = process.cwd();
      process.chdir(directory);
      try {
        // As a program that makes paths of its arguments gives it.
        const resolved = join(directory, "postgres:", "u:SECRET@h", "db#s");
        for (const place of [address, resolved]) {
          const calls: readonly (() => unknown)[] = [
            () => openSession(place),
            () => createSession(place),
            () => findSessions([place]),
            () => firstValueFrom(sessions$(place)),
            () => forkSession(fixture("pi-linear.jsonl"), { target: place }),
            () => SessionManager.open(place),
            () => SessionManager.create("/work", place),
            () => SessionManager.continueRecent("/work", place),
            () => SessionManager.list("/work", place),
            () => SessionManager.findById("/work", "id", place),
            () => SessionManager.forkFrom(fixture("pi-linear.jsonl"), "/work", place),
            () => OmpManager.open(place),
            () => OmpManager.create("/work", place),
          ];
          for (const call of calls) {
            const text = await textOf(call);
            expect(text, `${String(call)} ${place}`).toMatch(/address/);
            expect(text, String(call)).not.toContain(secret);
          }
        }
        expect(readdirSync(directory)).toEqual([]);
      } finally {
        process.chdir(before);
      }
    },
  );
});

/** As far as it is an address, what is shown of it. */
async function shownOf(address: string): Promise<never> {
  const { shown } = storeAddress(address);
  throw new Error(shown);
}
