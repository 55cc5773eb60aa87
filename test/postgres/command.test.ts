/** The command with sessions in a store: there and back byte for byte, and used by its address. */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startCommand } from "../cli/command-process.ts";
import { MemoryOutput, branchlog, fixture, jsonLines } from "../cli/command-run.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { DatabaseServer, hasPostgres } from "./database-server.ts";

describe.skipIf(!hasPostgres())("branchlog with a store", () => {
  let server: DatabaseServer;
  let url: string;

  beforeAll(async () => {
    server = await DatabaseServer.start();
    url = server.url(server.newSchema());
    const { code, out } = await branchlog(["store", "init", url]);
    expect([code, out]).toEqual([0, expect.stringContaining("from schema version 0 to 4")]);
  });
  afterAll(() => server.remove());

  it("pushes and pulls files of every kind without changing a byte", async () => {
    const directory = temporaryDirectory();
    const odd = join(directory, "odd.jsonl");
    const bytes = [readFileSync(fixture("pi-crlf.jsonl")), Buffer.from([0, 0xff, 10, 123])];
    writeFileSync(odd, Buffer.concat(bytes));
    for (const file of [odd, fixture("pi-branches.jsonl"), fixture("omp-18.jsonl")]) {
      const pushed = await branchlog(["store", "push", file, url, "--json"]);
      expect(pushed).toMatchObject({ code: 0, err: "" });
      const [{ address, sha256 }] = jsonLines(pushed.out) as [{ address: string; sha256: string }];
      expect(address).not.toContain("secret");
      const copy = join(directory, `${sha256}.jsonl`);
      const named = url + address.slice(address.indexOf("#"));
      const pulled = await branchlog(["store", "pull", named, "-o", copy, "--json"]);
      expect(jsonLines(pulled.out)).toMatchObject([{ sha256 }]);
      expect(readFileSync(copy).equals(readFileSync(file))).toBe(true);
      const again = await branchlog(["store", "pull", named, "-o", copy]);
      expect([again.code, again.err]).toEqual([1, expect.stringContaining("ERR_LOG_EXISTS")]);
      const twice = await branchlog(["store", "push", file, url]);
      expect([twice.code, twice.err]).toEqual([1, expect.stringContaining("ERR_LOG_EXISTS")]);
    }
  });

  it("reads, appends to, forks and removes a session by its address like one in a file", async () => {
    const file = join(temporaryDirectory(), "work.jsonl");
    copyFileSync(fixture("pi-branches.jsonl"), file);
    await branchlog(["store", "push", file, url]);
    const address = `${url}#work`;
    for (const words of [["tree"], ["entries"], ["tail"], ["context"], ["turns"], ["name"]]) {
      const [ofFile, stored] = [
        await branchlog([...words, file]),
        await branchlog([...words, address]),
      ];
      expect(stored, words.join(" ")).toEqual(ofFile);
    }
    const info = await branchlog(["info", address]);
    expect(info).toMatchObject({ code: 0, err: "" });
    expect(info.out).not.toContain("secret");
    expect(info.out).toMatch(
      /^resume\tpi --session-dir '?postgres:.*[^#]'? --session [0-9a-f-]{36}$/m,
    );
    const appended = await branchlog(["append", address, "--user", "From afar", "--json"]);
    const [{ id }] = jsonLines(appended.out) as [{ id: string }];
    expect((await branchlog(["label", address, id, "here"])).code).toBe(0);
    expect((await branchlog(["name", address, "A name"])).code).toBe(0);
    expect((await branchlog(["name", address])).out).toBe("A name\n");
    const forked = await branchlog(["fork", address, "--at", "here", "--json"]);
    expect(jsonLines(forked.out)).toMatchObject([{ at: id }]);
    expect(await branchlog(["verify", address])).toMatchObject({ code: 0 });
    for (const place of [url, address]) {
      const hits = jsonLines((await branchlog(["search", "from AFAR", place, "--json"])).out);
      // The fork repeats it.
      expect(hits).toMatchObject([{ entryId: id }]);
    }
    expect((await branchlog(["search", "never said", url])).code).toBe(1);
    const listed = jsonLines((await branchlog(["store", "ls", url, "--json"])).out);
    expect(listed).toContainEqual(expect.objectContaining({ name: "work" }));
    expect((await branchlog(["store", "rm", address])).code).toBe(2);
    expect((await branchlog(["store", "rm", address, "--yes"])).code).toBe(0);
    expect((await branchlog(["info", address])).err).toContain("ERR_LOG_MISSING");
  });

  it("pushes many files, and lists, watches and exports the stored sessions", async () => {
    const place = server.url(server.newSchema());
    await branchlog(["store", "init", place]);
    const names = ["pi-linear", "pi-branches", "pi-compactions-overlapping"];
    const files = names.map((name) => fixture(`${name}.jsonl`));
    const pushed = await branchlog(["store", "push", ...files, place, "--json"]);
    expect([pushed.code, pushed.err]).toEqual([0, ""]);
    expect(jsonLines(pushed.out)).toMatchObject(files.map((path) => ({ path })));
    const wrong = await branchlog(["store", "push", ...files, place, "--name", "one"]);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("keep their names")]);
    const named = await branchlog(["store", "push", files[0] ?? "", place, "--name", "one"]);
    expect(named.code).toBe(0);

    const directory = temporaryDirectory();
    for (const file of files) copyFileSync(file, join(directory, basename(file)));
    const facts = async (where: string): Promise<unknown[]> => {
      const { code, out, err } = await branchlog(["list", where, "--json", "--no-save"]);
      expect([code, err]).toEqual([0, ""]);
      const listed = jsonLines(out) as { path: string; id: string }[];
      return listed
        .filter(({ path }) => !path.endsWith("#one"))
        .map((one) => ({ ...one, path: "", parent: undefined }))
        .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    };
    expect(await facts(place)).toEqual(await facts(directory));
    expect((await branchlog(["list", place, "--limit", "1", "--json"])).out).toMatch(/^[^\n]+\n$/);
    expect((await branchlog(["list", place])).out).not.toContain("secret");

    for (const to of ["markdown", "pi"]) {
      const [ofFile, stored] = [
        await branchlog(["export", files[1] ?? "", "--to", to]),
        await branchlog(["export", `${place}#pi-branches`, "--to", to]),
      ];
      expect([stored.code, stored.err]).toEqual([0, ""]);
      expect(stored.out).toBe(ofFile.out);
    }
    const document = join(directory, "agent.yaml");
    const exported = await branchlog(["export", `${place}#pi-branches`, "-o", document]);
    expect(exported).toMatchObject({ code: 0, err: "" });

    const interrupt = new AbortController();
    let isChanged = false;
    const out = new MemoryOutput({
      onWrite: (text) => {
        if (text.includes('"kind":"changed"')) interrupt.abort();
        else if (text.includes('"kind":"live"') && !isChanged) {
          isChanged = true;
          void branchlog(["append", `${place}#one`, "--user", "News"]);
        }
      },
    });
    await branchlog(["watch", place, "--json"], { out, signal: interrupt.signal });
    const events = jsonLines(out.text) as { kind: string; session: { path: string } }[];
    expect(events.filter(({ kind }) => kind === "added")).toHaveLength(4);
    expect(events.at(-1)?.session.path).toContain("#one");
    expect(out.text).not.toContain("secret");
  });

  it("writes no session to the directories of other agents", async () => {
    const home = temporaryDirectory();
    const projects = join(home, ".claude", "projects", "-w");
    mkdirSync(projects, { recursive: true });
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const file = join(home, "mine.jsonl");
    copyFileSync(fixture("pi-linear.jsonl"), file);
    await branchlog(["store", "push", file, url]);
    const { code } = await branchlog([
      "store",
      "pull",
      `${url}#mine`,
      "-o",
      join(projects, "s.jsonl"),
    ]);
    expect(code).toBe(1);
    expect(readdirSync(projects)).toEqual([]);
  });

  it.runIf(process.platform === "linux")("hides the password from process lists", async () => {
    // A server that never answers.
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const child = startCommand(["store", "ls", `postgres://u:gu3ssed@127.0.0.1:${port}/db`]);
    const [socket] = (await once(silent, "connection")) as [Socket];
    onTestFinished(() => void socket.destroy());
    const shown = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
    expect(shown).toContain("branchlog store ls postgres://u@127.0.0.1");
    expect(shown).not.toContain("gu3ssed");
  });

  it("says what is wrong, and never the password", async () => {
    const secret = "gu3ssed";
    const bad = `postgres://owner:${secret}@127.0.0.1:${server.port}/postgres`;
    const runs: readonly (readonly [words: readonly string[], says: string])[] = [
      [["info", bad], "is a store, not a session"],
      [["info", `${bad}#s`], "ERR_STORE_DENIED"],
      [["store", "ls", `postgres://u:${secret}@127.0.0.1:1/none`], "ERR_STORE_UNAVAILABLE"],
      [["store", "ls", `postgres://u:${secret}@[`], "is not the address of a store"],
      [["store", "ls", server.url("elsewhere")], "ERR_STORE_SCHEMA"],
      [["store", "push", fixture("connectonion-ideal.yaml"), url], "ERR_NOT_A_SESSION"],
      [["export", `${bad}#s`, "--to", "pi"], "ERR_STORE_DENIED"],
      [["delete", `${bad}#s`, "--yes"], "branchlog store pull"],
      [["list", `${bad}#s`], ""],
      [["watch", `${bad}#s`], ""],
      [["repair", `${bad}#s`], ""],
      [["migrate", `${bad}#s`], ""],
      [["convert", `${bad}#s`, "--to", "omp", "-o", "x.jsonl"], ""],
      [["import", `${bad}#s`, "-o", "x.jsonl"], ""],
      [["create", `${bad}#s`], ""],
      [[`${bad}#s`], "ERR_STORE_DENIED"],
    ];
    for (const [words, says] of runs) {
      const { code, out, err } = await branchlog(words);
      expect([code, out], words[0]).toEqual([1, ""]);
      expect(err).toContain(says);
      expect(err).not.toContain(secret);
    }
    for (const words of [
      ["info", `${bad}#s`, `${bad}#t`],
      ["fork", `${bad}#s`, "-o", bad],
    ]) {
      const { code, err } = await branchlog(words);
      expect(code).toBe(2);
      expect(err).not.toContain(secret);
    }
  });
});
