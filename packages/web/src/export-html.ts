/**
 * One session, or one branch of it, as a single file that shows itself: the page, with the answers
 * that it would ask the server for. The file runs nothing but the page, and loads nothing.
 */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { SideTexts } from "@branchlog/library/catalogs";
import { BranchlogError, openSession } from "@branchlog/core";
import type { Session, SessionHeader, StoredSession } from "@branchlog/core";
import type { RedactionReport } from "@branchlog/tools";
import { Redactor } from "@branchlog/tools";
import {
  createStreamedLog,
  engineSettings,
  inLargeChunksAsync,
  requireFree,
} from "@branchlog/core/files";
import type { SessionFacts, SessionItem, SessionList } from "./api.ts";
import { assetsDirectory } from "./assets-directory.ts";
import { ShownSession } from "./shown-session.ts";
import { shownPage } from "./blocks.ts";

export interface ExportHtmlOptions {
  /** Only the branch that ends at this entry. Default: the whole session. */
  readonly at?: string | undefined;
  /** With `at`: of that branch only this entry and those behind it. */
  readonly from?: string | undefined;
  /** Replaces secrets by markers, and leaves out images. Default false. */
  readonly redact?: boolean;
  /** Called before the last piece, with what was replaced. */
  readonly onRedacted?: (report: RedactionReport) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The one session of an exported page. */
const key = "exported";
/** As the page asks for them. */
const rowsPerPage = 200;
const sectionsPerPage = 10;

/**
 * The file in pieces. Memory: the branch that is exported.
 * @throws BranchlogError as `openSession`; `ERR_ENTRY_NOT_FOUND`; `ERR_REDACTION_FAILED`;
 * `ERR_SERVE_FAILED` if the page was not built; the signal's reason.
 */
export async function* htmlPieces(
  source: string | StoredSession,
  options: ExportHtmlOptions = {},
): AsyncGenerator<string, void, undefined> {
  const assets = assetsDirectory();
  const [script, style] = await Promise.all(
    ["page.js", "page.css"].map((name) => readFile(join(assets, name), "utf8")),
  );
  const directory = await mkdtemp(join(tmpdir(), "branchlog-export-"));
  try {
    const log = join(directory, "exported.jsonl");
    const { item, report } = await copyForExport(source, log, options);
    const shown = await ShownSession.open(log);
    try {
      yield* document(script ?? "", style ?? "", item, answersOf(shown, item, options.signal));
      if (report !== undefined) options.onRedacted?.(report);
    } finally {
      await shown.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface HtmlReport {
  readonly path: string;
  readonly sizeBytes: number;
  /** With `redact`. */
  readonly redaction?: RedactionReport;
}

/**
 * Writes the file, whole or not at all; nothing is replaced.
 * @throws BranchlogError as {@link htmlPieces}; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 * @example
 * await exportHtml("session.jsonl", "session.html", { redact: true });
 */
export async function exportHtml(
  source: string | StoredSession,
  target: string,
  options: Omit<ExportHtmlOptions, "onRedacted"> = {},
): Promise<HtmlReport> {
  const { ports } = engineSettings({});
  const path = resolve(target);
  requireFree(ports, path);
  let [sizeBytes, redaction]: [number, RedactionReport | undefined] = [0, undefined];
  const onRedacted = (report: RedactionReport): void => {
    redaction = report;
  };
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const piece of htmlPieces(source, { ...options, onRedacted })) {
      const chunk = Buffer.from(piece);
      sizeBytes += chunk.length;
      yield chunk;
    }
  }
  await createStreamedLog(ports, path, inLargeChunksAsync(bytes()));
  return { path, sizeBytes, ...(redaction === undefined ? {} : { redaction }) };
}

interface ExportCopy {
  readonly item: SessionItem;
  readonly report: RedactionReport | undefined;
}

/** The entries as they are shown, in a log of their own: of every agent, and without secrets. */
async function copyForExport(
  source: string | StoredSession,
  log: string,
  { at, from, redact = false, signal }: ExportHtmlOptions,
): Promise<ExportCopy> {
  const reading = { access: "read", ...(signal === undefined ? {} : { signal }) } as const;
  const session =
    typeof source === "string"
      ? await openSession(source, reading)
      : await openSession({ ...source, ...reading });
  try {
    const redactor = redact ? new Redactor(session.path) : undefined;
    const entries = await entriesOf(session, { at, from, signal });
    // The first pass learns the secrets that the second one replaces.
    if (redactor !== undefined) {
      redactedLines(session.header, entries, redactor);
      redactor.endLearning();
    }
    const lines = redactedLines(session.header, entries, redactor);
    await writeFile(log, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    const summary = await session.summary;
    // Decoding boundary: of the header only the id was checked.
    const cwd: unknown = session.header.cwd;
    const clean = (text: string): string => redactor?.text(text) ?? text;
    return {
      item: {
        key,
        path: clean(basename(session.path)),
        id: clean(session.header.id),
        name: session.name === undefined ? null : clean(session.name),
        // It may be before the entries that are exported.
        firstMessage:
          from === undefined && summary.firstMessage !== undefined
            ? clean(summary.firstMessage)
            : null,
        agent: session.transcriptOf ?? session.dialect,
        cwd: typeof cwd === "string" ? clean(cwd) : "",
        modifiedMs: summary.lastActivityMs ?? 0,
        sizeBytes: session.sizeBytes,
        messageCount: summary.messageCount,
        tokens: null,
        models: [],
        parentKey: null,
        isSubagent: false,
        firstPrompt: null,
        isArchived: false,
        activity: null,
        cost: null,
        isEstimate: false,
      },
      report: redactor?.report(),
    };
  } finally {
    await session.close();
  }
}

async function entriesOf(
  session: Session,
  { at, from, signal }: Pick<ExportHtmlOptions, "at" | "from" | "signal">,
): Promise<readonly object[]> {
  const sides = new SideTexts(session.path, session.transcriptOf);
  if (at !== undefined) {
    // Throws if there is no such entry.
    await session.moveTo(at);
    const branch = (await session.branch()).map((entry) => sides.inWhole(entry));
    const start = from === undefined ? 0 : branch.findIndex(({ id }) => id === from);
    const [first, ...rest] = start < 0 ? [] : branch.slice(start);
    if (first !== undefined) return start === 0 ? branch : [{ ...first, parentId: null }, ...rest];
    const message = `There is no entry ${from ?? ""} on the branch that ends at ${at}.`;
    throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { path: session.path });
  }
  const entries: object[] = [];
  for await (const entry of session.entries(signal === undefined ? {} : { signal })) {
    entries.push(sides.inWhole(entry));
  }
  return entries;
}

function redactedLines(
  header: SessionHeader,
  entries: readonly object[],
  redactor: Redactor | undefined,
): string[] {
  const lines = [{ ...header, version: 3 }, ...entries].map((one) => JSON.stringify(one));
  return redactor === undefined ? lines : lines.map((line) => redactor.json(line));
}

/** Each address that the page asks for, and its answer. */
async function* answersOf(
  shown: ShownSession,
  item: SessionItem,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly [address: string, answer: unknown]> {
  const base = `/api/session/${key}`;
  const list: SessionList = { sessions: [item], canWrite: false, isComplete: true };
  yield ["/api/sessions", list];
  await shown.sumUp();
  const facts: SessionFacts = { ...shown.facts(), item, canWrite: false, resume: null };
  yield [base, facts];
  const { sectionCount, turnCount } = shown.conversation.place(null);
  for (let from = 0; from < Math.max(1, sectionCount); from += sectionsPerPage) {
    signal?.throwIfAborted();
    const asked = { from, count: sectionsPerPage, tip: null };
    const page = shownPage(await shown.conversation.turns(asked));
    yield [`${base}/turns?from=${from}&count=${sectionsPerPage}`, page];
  }
  for (let from = 0; from < Math.max(1, turnCount); from += rowsPerPage) {
    const page = await shown.conversation.outline({ from, count: rowsPerPage, tip: null });
    yield [`${base}/outline?from=${from}&count=${rowsPerPage}`, page];
  }
  yield [`${base}/turns/place`, shown.conversation.place(null)];
  yield [`${base}/timeline`, await shown.conversation.timeline(null)];
  for (let from = 0; from < Math.max(1, facts.rowCount); from += rowsPerPage) {
    signal?.throwIfAborted();
    const page = await shown.rows(from, rowsPerPage);
    yield [`${base}/rows?from=${from}&count=${rowsPerPage}`, page];
    for (const { row, id } of page.rows) {
      yield [`${base}/entry/${row}`, await shown.entry(row, false)];
      const place = shown.conversation.place(row);
      if (place.tip === null) yield [`${base}/turns/place?row=${row}`, place];
      yield [`${base}/place?${new URLSearchParams({ id }).toString()}`, { row, id }];
    }
  }
  // The context of every entry would be as long as all of them together, each time.
  if (facts.leafRow === null) return;
  yield [`${base}/context?row=${facts.leafRow}`, await shown.context(facts.leafRow)];
}

async function* document(
  script: string,
  style: string,
  { name, firstMessage }: SessionItem,
  answers: AsyncIterable<readonly [address: string, answer: unknown]>,
): AsyncGenerator<string, void, undefined> {
  const code = script.replaceAll("</script", String.raw`<\/script`);
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(code)}'`,
    `style-src '${digestOf(style)}'`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types branchlog dompurify",
  ].join("; ");
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(name ?? firstMessage ?? "A session")}</title>
<style>${style}</style></head>
<body><div id="page"></div><noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="exported">{`;
  let separator = "\n";
  for await (const [address, answer] of answers) {
    yield `${separator}${jsonIn(address)}:${jsonIn(answer)}`;
    separator = ",\n";
  }
  yield `}</script>\n<script type="module">${code}</script></body></html>\n`;
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** No text of a session ends the element that it is in. */
function jsonIn(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

function escaped(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").slice(0, 200);
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
