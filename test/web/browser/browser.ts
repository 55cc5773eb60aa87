/**
 * A real browser for the tests of the page: Debian's Chromium. Where there is none, the tests are
 * skipped, and with `BRANCHLOG_REQUIRE_CHROMIUM` they fail. What the page must never do is
 * collected while it runs: errors on the console, violations of the policy, requests elsewhere.
 */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

export const hasBrowser: boolean =
  executablePath !== undefined || process.env["BRANCHLOG_REQUIRE_CHROMIUM"] !== undefined;

let started: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  if (executablePath === undefined)
    throw new Error("BRANCHLOG_REQUIRE_CHROMIUM is set: no browser");
  started ??= chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  return started;
}

/** To be called when all tests of a file are done. */
export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
  started = undefined;
}

export interface OpenedPage {
  readonly page: Page;
  /** What must stay empty. */
  readonly problems: readonly string[];
}

/** Opens an address of `branchlog serve` as a person does, in a separate browser profile. */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const profile = await (await browser()).newContext(options);
  onTestFinished(() => profile.close());
  const page = await profile.newPage();
  const problems: string[] = [];
  const { host } = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (asked) => {
    const target = new URL(asked.url());
    const isFile = target.protocol === "file:" && asked.url().split("#")[0] === url.split("#")[0];
    const isHost = host !== "" && target.host === host;
    const isOwn = isHost || isFile || ["data:", "blob:"].includes(target.protocol);
    if (!isOwn) problems.push(`request: ${asked.url()}`);
  });
  await page.exposeFunction("tellViolation", (text: string) => problems.push(`policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const tell = Reflect.get(window, "tellViolation") as (text: string) => void;
      tell(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(url);
  return { page, problems };
}
