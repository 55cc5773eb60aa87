/**
 * The page in a real browser, over real sessions. In every test the console stays empty, no policy
 * is violated, and no request leaves the machine.
 */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { exportHtml, serve } from "@branchlog/web";
import type { ServeOptions, Served } from "@branchlog/web";
import { closeBrowser, hasBrowser, openPage } from "./browser.ts";

afterAll(closeBrowser);

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

function folder(...names: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "branchlog-page-"));
  for (const name of names) {
    cpSync(join(fixtures, name), join(directory, name.replace(/.*\//, "")));
  }
  return directory;
}

async function served(directory: string, options: Partial<ServeOptions> = {}): Promise<Served> {
  const server = await serve({ place: [directory], ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A session whose first entry goes on in two ways of so many turns, in the order of their words. */
function forkedSession(turns: number, words: readonly [string, string]): string {
  const directory = mkdtempSync(join(tmpdir(), "branchlog-page-"));
  const timestamp = "2026-01-01T00:00:00.000Z";
  const entry = (id: string, parentId: string | null, content: string): string => {
    const message = { role: "user", content, timestamp: 1 };
    return JSON.stringify({ type: "message", id, parentId, timestamp, message });
  };
  const header = { type: "session", version: 3, id: "s1", timestamp, cwd: "/a" };
  const lines = [JSON.stringify(header), entry("start", null, "start")];
  for (const word of words) {
    for (let at = 0; at < turns; at += 1) {
      const parent = at === 0 ? "start" : `${word}${at - 1}`;
      lines.push(entry(`${word}${at}`, parent, `${word} ${at}`));
    }
  }
  writeFileSync(join(directory, "session.jsonl"), `${lines.join("\n")}\n`);
  return directory;
}

/** What is drawn and fetched without a further event has been by then. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 100; frame += 1) await new Promise(requestAnimationFrame);
  });
}

/** From the list to the conversation of the session with this title. */
async function openConversation(page: Page, title: string): Promise<void> {
  await page.getByText(title, { exact: false }).first().click();
  await page.locator(".turn").first().waitFor();
}

/** From the list to the rows of that session. */
async function openRows(page: Page, title: string): Promise<void> {
  await openConversation(page, title);
  await page.keyboard.press("t");
  await page.locator('[role="treeitem"]').first().waitFor();
}

describe.skipIf(!hasBrowser)("the page", () => {
  it("shows sessions by project, and one with its branches and its leaf", async () => {
    const directory = folder("pi-branches.jsonl", "claude/branches.jsonl", "omp-18.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("p");
    await page.waitForURL(/by=project/);
    for (const project of ["/home/dev/branchlog", "/home/me/project"]) {
      await page.getByRole("heading", { name: project }).waitFor();
    }
    await page.locator('a[title$="pi-branches.jsonl"]').click();
    await page.locator(".turn").first().waitFor();
    await page.keyboard.press("t");
    await page.locator('[role="treeitem"]').first().waitFor();
    expect(await page.locator('[role="treeitem"]').count()).toBe(10);
    expect(await page.locator('[data-leaf="true"]').innerText()).toContain("A second root.");
    expect(await page.locator(".chip.forks").first().innerText()).toBe("2 branches");
    const lanes = await page
      .locator('[role="treeitem"]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-level")));
    expect(lanes).toEqual(["1", "1", "1", "1", "1", "1", "2", "2", "2", "1"]);
    await page.getByText("Try LRU.").waitFor();
    expect(problems).toEqual([]);
  });

  it("shows an entry, the context there, and two branches side by side, each under its address", async () => {
    const directory = folder("pi-branches.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await openRows(page, "Plan the cache.");
    await page.getByText("Try LRU.").first().click();
    await page.waitForURL(/row=2/);
    await page.getByText("Context here").click();
    await page.waitForURL(/context\?row=2/);
    await page.getByText("Two ways: LRU or TTL.").first().waitFor();
    const key = /\/s\/([\w-]+)\//.exec(page.url())?.[1] ?? "";
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/s/${key}/compare?from=3&to=8`);
    const [one, other] = [page.getByLabel("First"), page.getByLabel("Second")];
    await one.getByText("LRU is in place.").waitFor();
    await other.getByText("TTL is in place.").waitFor();
    await page.getByText("1 turn in common").waitFor();
    const left = await one.boundingBox();
    expect((await other.boundingBox())?.y).toBe(left?.y);
    await page.setViewportSize({ width: 400, height: 800 });
    expect((await other.boundingBox())?.y).toBeGreaterThan(left?.y ?? 0);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goBack();
    await page.waitForURL(/context\?row=2/);
    expect(problems).toEqual([]);
  });

  it("is used by keys alone", async () => {
    const directory = folder("pi-branches.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await page.getByText("Plan the cache.").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator(".turn").first().waitFor();
    await page.keyboard.press("t");
    await page.locator('[role="treeitem"]').first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/row=1/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(problems).toEqual([]);
  });

  it("finds texts in all sessions, and jumps to the entry", async () => {
    const directory = folder("pi-branches.jsonl", "pi-linear.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await page.goto(`${new URL(page.url()).origin}/search?q=TTL`);
    await page.getByText("TTL", { exact: true }).first().click();
    await page.waitForURL(/\/s\/[\w-]+.*row=/);
    await page.goto(`${new URL(page.url()).origin}/search?q=e`);
    const calls = page.getByRole("button", { name: /^call \d/ });
    await calls.click();
    await page.waitForURL(/kind=call/);
    await page.getByRole("button", { name: /^call \d/, pressed: true }).waitFor();
    await page.locator("a.hit").first().waitFor();
    const tools = await page.locator("a.hit .row-kind").allTextContents();
    expect(tools.filter((name) => ["user", "assistant", "name"].includes(name))).toEqual([]);
    await page.goto(`${new URL(page.url()).origin}/costs?by=day`);
    await page
      .getByText(/2025-06-0\d/)
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });

  it("shows appends of another process, and stops scrolling when the reader scrolls", async () => {
    const directory = folder("pi-linear.jsonl");
    const path = join(directory, "pi-linear.jsonl");
    const text = (n: number): string => {
      const message = { role: "user", content: `appended ${n}`, timestamp: n };
      const entry = { type: "message", id: `live${n}`, parentId: null, timestamp: "t", message };
      return `${JSON.stringify(entry)}\n`;
    };
    for (let n = 0; n < 100; n += 1) appendFileSync(path, text(n));
    const { page, problems } = await openPage((await served(directory)).url);
    await openRows(page, "Fix the login test");
    await page.getByRole("tree").getByText("appended 99").waitFor();
    // A second window on the same session, in the same browser.
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByRole("tree").getByText("appended 99").waitFor();
    const delays: number[] = [];
    for (let n = 100; n < 120; n += 1) {
      const shown = page.getByRole("tree").getByText(`appended ${n}`, { exact: true }).waitFor();
      const begun = performance.now();
      appendFileSync(path, text(n));
      await shown;
      delays.push(performance.now() - begun);
    }
    const median = delays.toSorted((one, other) => one - other)[10] ?? 0;
    await second.getByRole("tree").getByText("appended 119", { exact: true }).waitFor();
    process.stdout.write(`an entry of another process on the screen: ${median.toFixed(0)} ms\n`);
    expect(median).toBeLessThan(1000);
    await page.mouse.move(300, 400);
    await page.mouse.wheel(0, -1500);
    await page.getByRole("tree").getByText("appended 60", { exact: true }).waitFor();
    appendFileSync(path, text(120));
    await page.getByText(/1 new entr/).waitFor();
    expect(await page.getByRole("tree").getByText("appended 120", { exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("saves the turns from one to another as a file", async () => {
    const directory = folder("pi-branches.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await openConversation(page, "Plan the cache.");
    await page.locator(".ways a", { hasText: "Plan the cache." }).click();
    await page.locator(".turn h2", { hasText: "Plan the cache." }).waitFor();
    const turn = page.locator(".turn", { has: page.locator("h2", { hasText: "Try TTL" }) });
    await turn.getByRole("button", { name: "Share from here" }).click();
    const saved = page.waitForEvent("download");
    await turn.getByRole("button", { name: "Share this turn" }).click();
    const file = join(directory, "shared.html");
    await (await saved).saveAs(file);
    const shared = await openPage(`file://${file}`);
    await shared.page.locator(".turn").first().waitFor();
    expect(await shared.page.locator(".turn h2").allTextContents()).toEqual(["Try TTL instead."]);
    expect([...problems, ...shared.problems]).toEqual([]);
  });

  it("follows a growing conversation, and restarts when its file is replaced", async () => {
    const directory = folder("pi-linear.jsonl");
    const path = join(directory, "pi-linear.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await openConversation(page, "Fix the login test");
    const session = await openSession(path);
    for (let n = 0; n < 30; n += 1) {
      const content = `further question ${n}`;
      await session.append({ type: "message", message: { role: "user", content, timestamp: n } });
    }
    await session.close();
    await page.locator(".turn h2", { hasText: "further question 29" }).waitFor();
    await expect
      .poll(() => page.locator('.turn[data-active="true"] h2').textContent())
      .toBe("further question 29");
    await page.keyboard.press("g");
    await page.locator('.turn[data-active="true"]', { hasText: "The login test fails" }).waitFor();
    const stored = readFileSync(path, "utf8").split("\n");
    writeFileSync(`${path}.new`, `${stored.slice(0, 4).join("\n")}\n`);
    renameSync(`${path}.new`, path);
    await page
      .locator(".turn h2", { hasText: "further question 0" })
      .waitFor({ state: "detached" });
    await page.locator(".turn h2", { hasText: "The login test fails" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("continues after a restart of the server", async () => {
    const directory = folder("pi-linear.jsonl");
    const path = join(directory, "pi-linear.jsonl");
    const first = await served(directory, { token: "the token of a test" });
    const { page } = await openPage(first.url);
    await openRows(page, "Fix the login test");
    const { port } = first;
    await first.close();
    const second = await served(directory, { port, token: "the token of a test" });
    expect(second.port).toBe(port);
    const session = await openSession(path);
    await session.append({
      type: "message",
      message: { role: "user", content: "after the restart", timestamp: 1 },
    });
    await session.close();
    await page.getByText("after the restart").first().waitFor();
  });

  it("executes nothing from sessions, in any position", async () => {
    const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const markdown = [
      evil,
      "[link](javascript:window.hacked=1)",
      "![x](https://evil.example/pixel.png)",
      '<iframe src="https://evil.example"></iframe><form action="https://evil.example">',
      '<svg onload="window.hacked=1"><style>*{display:none}</style></svg>',
      `<a href="data:text/html,${evil}">data</a>`,
      "```html",
      evil,
      "```",
    ].join("\n\n");
    const directory = folder();
    const stamp = { timestamp: "2026-01-01T00:00:00.000Z" };
    const header = { type: "session", version: 3, id: evil, ...stamp, cwd: evil };
    const parts = [
      { type: "text", text: markdown },
      { type: "thinking", thinking: markdown },
      { type: "toolCall", id: evil, name: evil, arguments: { [evil]: evil } },
      { type: "image", data: `"${evil}`, mimeType: "image/svg+xml" },
    ];
    const entries = [
      { type: "message", id: "a", message: { role: "user", content: markdown, timestamp: 1 } },
      { type: "message", id: "b", message: { role: "assistant", content: parts, model: evil } },
      {
        type: "message",
        id: "c",
        message: { role: "toolResult", toolCallId: evil, toolName: evil, content: parts },
      },
      { type: "session_info", id: "d", name: evil },
      { type: "label", id: "e", targetId: "a", label: evil },
      { type: "compaction", id: "f", summary: markdown, firstKeptEntryId: "a", tokensBefore: 1 },
      { type: evil, id: "g", [evil]: evil },
    ];
    const lines = entries.map((entry, at) => {
      return { ...entry, parentId: entries[at - 1]?.id ?? null, ...stamp };
    });
    const text = [header, ...lines].map((line) => JSON.stringify(line)).join("\n");
    writeFileSync(join(directory, "evil.jsonl"), `${text}\n`);
    const { page, problems } = await openPage((await served(directory)).url);
    await page.locator('a[href^="/s/"]').first().click();
    await page.locator(".turn").first().waitFor();
    await page.keyboard.press("m");
    await page.keyboard.press("e");
    await page.waitForTimeout(300);
    const session = page.url().split("?")[0] ?? "";
    const base = `${session}/entries`;
    for (let row = 0; row < entries.length; row += 1) {
      await page.goto(`${base}?row=${row}`);
      await page.locator(`#row-${row}`).waitFor();
      await page.waitForTimeout(200);
    }
    await page.goto(`${session}/context?row=5`);
    await page.waitForTimeout(300);
    const hacked = await page.evaluate(() => Reflect.get(window, "hacked") as unknown);
    expect(hacked).toBeUndefined();
    const remote = await page
      .locator('iframe, form, style:not([data-own]), img[src^="http"]')
      .count();
    expect(remote).toBe(0);
    expect(problems).toEqual([]);
  });

  it("has no serious axe findings, in dark and light, wide and narrow", async () => {
    const directory = folder("pi-branches.jsonl", "pi-linear.jsonl", "claude/branches.jsonl");
    for (const [width, colorScheme] of [
      [1280, "light"],
      [400, "dark"],
    ] as const) {
      const { page, problems } = await openPage((await served(directory)).url, {
        viewport: { width, height: 800 },
        colorScheme,
        bypassCSP: true,
      });
      const found: string[] = [];
      const check = async (where: string): Promise<void> => {
        await page.addScriptTag({ path: axe });
        const violations = await page.evaluate(async () => {
          const runner = Reflect.get(window, "axe") as {
            run: () => Promise<{ violations: { id: string; impact: string; nodes: unknown[] }[] }>;
          };
          const result = await runner.run();
          return result.violations.map(({ id, impact }) => `${impact} ${id}`);
        });
        const bad = violations.filter((one) => /^(?:serious|critical)/.test(one));
        found.push(...bad.map((one) => `${where}: ${one}`));
      };
      await page.getByText("Plan the cache.").first().waitFor();
      await check("list");
      await openConversation(page, "Plan the cache.");
      await page.keyboard.press("[");
      await page.getByText("Try LRU.").first().waitFor();
      await check("conversation");
      await page.keyboard.press("t");
      await page.locator('[role="treeitem"]').first().waitFor();
      await check("session");
      await page.getByText("Try LRU.").first().click();
      await page.waitForURL(/row=2/);
      await page.locator('#entry[aria-busy="false"] h2').waitFor();
      await check("entry");
      const isWide = async (): Promise<boolean> =>
        (await page.evaluate(() => document.documentElement.scrollWidth)) > width;
      expect(await isWide()).toBe(false);
      const { origin } = new URL(page.url());
      for (const [place, shown] of [
        ["/?by=project&archived=1", ".session-line"],
        ["/?q=nothing+has+these", ".pending"],
        ["/search?q=e", "a.hit"],
        ["/search?q=e&kind=call", 'button[aria-pressed="true"]'],
        ["/costs?by=session", ".chart canvas"],
        ["/costs?by=turn&day=1999-01-01", ".pending"],
      ] as const) {
        await page.goto(`${origin}${place}`);
        await page.locator(shown).first().waitFor();
        await check(place);
        expect([place, await isWide()]).toEqual([place, false]);
      }
      expect(found).toEqual([]);
      expect(problems).toEqual([]);
    }
  });

  it("shows a session as a conversation, and goes to other branches where they start", async () => {
    const directory = folder("pi-branches.jsonl", "pi-linear.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await openConversation(page, "Plan the cache.");
    expect(await page.locator(".turn h2").allTextContents()).toEqual(["A second root."]);
    await page.locator(".ways a", { hasText: "Plan the cache." }).click();
    await page.waitForURL(/row=0/);
    await page.locator(".turn h2", { hasText: "Plan the cache." }).waitFor();
    const shown = await page.locator(".turn h2").allTextContents();
    await page.locator(".reading-line", { hasText: "not the branch of the leaf" }).waitFor();
    expect(shown).toEqual(["Plan the cache.", "Try TTL instead."]);
    await page.keyboard.press("[");
    await page.locator(".turn h2", { hasText: "Try LRU." }).waitFor();
    await page.goBack();
    await page.locator(".turn h2", { hasText: "Try TTL instead." }).waitFor();
    await page.locator(".outline-line").nth(1).click();
    await page.locator('.turn[data-active="true"] h2').waitFor();
    await page.keyboard.press("t");
    await page.waitForURL(/entries/);
    expect(problems).toEqual([]);
  });

  it("loads only around the reader when a position in the middle was opened", async () => {
    const server = await served(forkedSession(2000, ["one", "two"]));
    const { page, problems } = await openPage(server.url);
    await openConversation(page, "start");
    const read: number[] = [];
    page.on("request", (asked) => {
      const from = /turns\?from=(\d+)/.exec(asked.url())?.[1];
      if (from !== undefined) read.push(Number(from));
    });
    await page.goto(`${page.url().split("?")[0] ?? ""}?row=3000`);
    const wanted = page.locator('[data-row="3000"]');
    await wanted.waitFor();
    await settled(page);
    expect(await wanted.isVisible()).toBe(true);
    expect(await page.locator(".turn").count()).toBeLessThanOrEqual(80);
    expect(Math.max(...read) - Math.min(...read)).toBeLessThanOrEqual(80);
    expect(problems).toEqual([]);
  });

  it("shows the chosen branch when an answer for another one arrives later", async () => {
    const { page, problems } = await openPage(
      (await served(forkedSession(300, ["one", "two"]))).url,
    );
    await openConversation(page, "start");
    await page.locator(".turn h2", { hasText: "two 299" }).waitFor();
    await settled(page);
    const held: (() => void)[] = [];
    await page.route(/turns\?from=\d+&count=\d+$/, async (route) => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
      });
      await route.continue();
    });
    await page.locator(".conversation").evaluate((element) => element.scrollTo(0, 0));
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { timeout: 10_000 });
    await page.getByRole("tree", { name: "Turns" }).focus();
    await page.keyboard.press("Home");
    await page.locator('#outline-0[aria-expanded="false"]').waitFor();
    for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    await page.locator(".turn h2", { hasText: "one 0" }).first().waitFor();
    const late = page.waitForResponse(/turns\?from=\d+&count=\d+$/);
    for (const release of held) release();
    await (await late).finished();
    await settled(page);
    const titles = await page.locator(".turn h2").allTextContents();
    expect(titles.filter((title) => !/^(?:start|one \d+)$/.test(title))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("prints which turns of the branch are shown", async () => {
    const { page, problems } = await openPage(
      (await served(forkedSession(300, ["one", "two"]))).url,
    );
    await openConversation(page, "start");
    await page.locator(".turn h2", { hasText: "two 299" }).waitFor();
    await settled(page);
    const note = page.locator(".print-note");
    expect(await note.isVisible()).toBe(false);
    await page.emulateMedia({ media: "print" });
    await note.waitFor();
    expect(await note.textContent()).toMatch(/^Turns \d+ to 301 of 301\./);
    expect(await page.locator(".outline").isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  it("has an outline whose tree is used by keys, and a drawer for it in a narrow window", async () => {
    const directory = folder("pi-branches.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await openConversation(page, "Plan the cache.");
    await page.locator(".ways a", { hasText: "Plan the cache." }).click();
    await page.locator(".turn h2", { hasText: "Plan the cache." }).waitFor();
    const tree = page.getByRole("tree", { name: "Turns" });
    const turn = tree.locator('[aria-level="1"]');
    await turn.nth(1).waitFor();
    expect(await turn.nth(0).getAttribute("aria-setsize")).toBe("2");
    await tree.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    const branches = tree.getByRole("group").getByRole("treeitem");
    await branches.filter({ hasText: "Try LRU." }).waitFor();
    await page.keyboard.press("ArrowRight");
    const chosen = await tree.getAttribute("aria-activedescendant");
    const at = await branches.evaluateAll(
      (all, id) => all.findIndex((one) => one.id === id),
      chosen,
    );
    expect(at).toBe(0);
    const title = (await branches.nth(at).textContent()) ?? "";
    await page.keyboard.press("Enter");
    await page.locator(".turn h2", { hasText: title }).waitFor();
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await tree.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Turns" }).click();
    await tree.waitFor();
    await turn.nth(0).locator(".outline-text").first().click();
    await tree.waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
  });

  it("is a separate file, with all branches, and without secrets", async () => {
    const directory = folder("pi-branches.jsonl");
    const path = join(directory, "pi-branches.jsonl");
    const secret = "ghp_06A7b9XqLmNoPqRsTuVwXyZ0123456789Abc";
    const evil = "</script><script>window.hacked=1</script><!--";
    const content = `${secret} ${evil}`;
    const message = { role: "user", content, timestamp: 1 };
    const entry = {
      type: "message",
      id: "0000000e",
      parentId: "5b2e9d0a",
      timestamp: "t",
      message,
    };
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
    const file = join(directory, "exported.html");
    await exportHtml(path, file, { redact: true });
    const text = readFileSync(file, "utf8");
    expect([text.includes(secret), text.includes(directory)]).toEqual([false, false]);
    const { page, problems } = await openPage(`file://${file}`);
    await page.locator(".turn").first().waitFor();
    await page.keyboard.press("t");
    await page.locator('[role="treeitem"]').first().waitFor();
    expect(await page.locator('[role="treeitem"]').count()).toBe(11);
    expect(await page.locator('[data-leaf="true"]').innerText()).toContain(
      "[redacted: github-token",
    );
    await page.getByText("Try LRU.").first().click();
    await page.waitForURL(/#.*row=2/);
    await page.locator("#row-10").click();
    await page.locator('a[href$="/context?row=10"]').click();
    await page.getByText("A second root.").first().waitFor();
    expect(await page.evaluate(() => Reflect.get(window, "hacked") as unknown)).toBeUndefined();
    expect(await page.getByText("Search", { exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
    await exportHtml(path, join(directory, "branch.html"), { at: "5b2e9d06" });
    const branch = await openPage(`file://${join(directory, "branch.html")}`);
    await branch.page.locator(".turn").first().waitFor();
    expect(await branch.page.locator(".turn h2").allTextContents()).toEqual([
      "Plan the cache.",
      "Try LRU.",
      "Measure it.",
    ]);
    await branch.page.keyboard.press("t");
    await branch.page.locator('[role="treeitem"]').first().waitFor();
    expect(await branch.page.locator('[role="treeitem"]').count()).toBe(6);
    expect(branch.problems).toEqual([]);
  });

  it("archives selected sessions, shows them greyed, and restores them", async () => {
    const directory = folder("pi-linear.jsonl", "pi-branches.jsonl");
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of ["pi-linear.jsonl", "pi-branches.jsonl"]) {
      utimesSync(join(directory, name), hourAgo, hourAgo);
    }
    vi.stubEnv("BRANCHLOG_DATA_DIR", join(directory, "data"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { page, problems } = await openPage((await served(directory, { write: true })).url);
    await page.getByRole("checkbox", { name: "Choose Plan the cache." }).check();
    await page.getByRole("button", { name: "Archive 1", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await page.locator(".session-line", { hasText: "Plan" }).waitFor({ state: "detached" });
    expect(existsSync(join(directory, "pi-branches.jsonl"))).toBe(false);
    await page.getByRole("button", { name: "Archived", exact: true }).click();
    await page.waitForURL(/archived=1/);
    const greyed = page.locator('.session-line[data-archived="true"]');
    await greyed.getByText("Plan the cache.").waitFor();
    await greyed.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Restore 1" }).click();
    await page.locator('.session-line[data-archived="false"]', { hasText: "Plan" }).waitFor();
    expect(existsSync(join(directory, "pi-branches.jsonl"))).toBe(true);
    // The preview may ask for a session that was archived a moment before.
    expect(problems.filter((one) => !one.includes("404"))).toEqual([]);
  });

  it("previews the session selected by keyboard, with its prompts", async () => {
    const directory = folder("pi-branches.jsonl", "pi-linear.jsonl");
    const { page, problems } = await openPage((await served(directory)).url);
    await page.locator(".session-line").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const preview = page.getByRole("complementary", { name: "Preview" });
    const current = page.locator('[data-current="true"] .session-name');
    await preview.getByRole("heading", { name: await current.innerText(), level: 2 }).waitFor();
    await preview.getByText("Last answer").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("nothing has these");
    await page.getByText("No sessions match these words.").waitFor();
    await page.waitForURL(/q=nothing/);
    expect(problems).toEqual([]);
  });

  it("changes sessions with --write, and offers nothing without it", async () => {
    const directory = folder("pi-linear.jsonl");
    const reading = await openPage((await served(directory)).url);
    await openRows(reading.page, "Fix the login test");
    await reading.page.locator("#row-2").click();
    expect(await reading.page.getByRole("button", { name: /^delete/i }).count()).toBe(0);
    const { page, problems } = await openPage((await served(directory, { write: true })).url);
    await openRows(page, "Fix the login test");
    await page.locator("#row-2").click();
    await page
      .getByRole("button", { name: /^label/i })
      .first()
      .click();
    await page.getByRole("dialog").getByRole("textbox").fill("good state");
    await page.keyboard.press("Enter");
    await page.locator(".chip.label", { hasText: "good state" }).first().waitFor();
    expect(readFileSync(join(directory, "pi-linear.jsonl"), "utf8")).toContain("good state");
    expect(problems).toEqual([]);
  });
});
