/**
 * One session, or one branch of it, as a single self-contained file: the page, with the answers
 * that it would request from the server. The file runs only the page, and loads nothing.
 */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { SideTexts } from "@branchlog/library/catalogs";
import { BranchlogError, openSession } from "@branchlog/core";
import type { Session, StoredSession } from "@branchlog/core";
import { watchedSession } from "@branchlog/core/engine";
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
  /** With `at`: of that branch only this entry and those after it. */
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
/** The entries of a longer session are not shown one by one: no browser opens such a file. */
const ownEntriesMax = 20_000;

/**
 * The file in pieces.
 * @throws BranchlogError as `openSession`; `ERR_ENTRY_NOT_FOUND`; `ERR_REDACTION_FAILED`;
 * `ERR_SERVE_FAILED` if the page is not built; the signal's reason.
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
 * Writes the file, completely or not at all; nothing is replaced.
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
    const rows = exportedRows(session, at, from);
    const copied = { rows, isCut: from !== undefined, redactor, signal };
    // The first pass learns the secrets that the second one replaces.
    if (redactor !== undefined) {
      for await (const _ of linesOf(session, copied)) continue;
      redactor.endLearning();
    }
    await writeFile(log, inLargeChunksAsync(linesOf(session, copied)), { mode: 0o600 });
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

/** Of the whole file, or of a branch from one entry to another. */
function exportedRows(session: Session, at?: string, from?: string): Int32Array {
  const { engine } = watchedSession(session);
  const { index } = engine;
  if (at === undefined) return Int32Array.from({ length: index.count }, (_, row) => row);
  if (index.rowOfId(at) < 0) throw absent(session, at, "in the session");
  const { rows } = engine.rowPath(at);
  const start = from === undefined ? 0 : rows.indexOf(index.rowOfId(from));
  if (start < 0) throw absent(session, from ?? "", `on the branch that ends at ${at}`);
  return rows.subarray(start);
}

function absent({ path }: Session, id: string, where: string): BranchlogError {
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", `There is no entry ${id} ${where}.`, { path });
}

interface CopiedRows {
  readonly rows: Int32Array;
  /** Whether entries above the first of them are omitted. */
  readonly isCut: boolean;
  readonly redactor: Redactor | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* linesOf(
  session: Session,
  { rows, isCut, redactor, signal }: CopiedRows,
): AsyncGenerator<Buffer, void, undefined> {
  const line = (value: object): Buffer => {
    const text = JSON.stringify(value);
    return Buffer.from(`${redactor?.json(text) ?? text}\n`);
  };
  yield line({ ...session.header, version: 3 });
  const { engine } = watchedSession(session);
  const sides = new SideTexts(session.path, session.transcriptOf);
  for await (const { row, entry } of engine.bodies.entries(rows, signal)) {
    const whole = sides.inWhole(entry);
    yield line(isCut && row === rows[0] ? { ...whole, parentId: null } : whole);
  }
}

type Answer = readonly [address: string, answer: unknown];

/** Requests of the page, in groups that it reads together. */
async function* answersOf(
  shown: ShownSession,
  item: SessionItem,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Answer[]> {
  const base = `/api/session/${key}`;
  const list: SessionList = { sessions: [item], canWrite: false, isComplete: true };
  await shown.sumUp();
  const known = shown.facts({ hasTree: true });
  const facts: SessionFacts = { ...known, item, canWrite: false, resume: null };
  const { conversation } = shown;
  const end = conversation.place(null);
  yield [
    ["/api/sessions", list],
    [base, facts],
    [`${base}?tree=1`, facts],
    [`${base}/turns/place`, end],
    [`${base}/timeline`, await conversation.timeline(null)],
  ];
  for (let from = 0; from < Math.max(1, end.sectionCount); from += sectionsPerPage) {
    signal?.throwIfAborted();
    const page = await conversation.turns({
      from,
      count: sectionsPerPage,
      tip: null,
      isExact: true,
    });
    yield [[`${base}/turns?from=${from}&count=${sectionsPerPage}`, shownPage(page)]];
  }
  for (let from = 0; from < Math.max(1, end.turnCount); from += rowsPerPage) {
    const page = await conversation.outline({ from, count: rowsPerPage, tip: null });
    yield [[`${base}/outline?from=${from}&count=${rowsPerPage}`, page]];
  }
  for (let from = 0; from < Math.max(1, facts.rowCount); from += rowsPerPage) {
    signal?.throwIfAborted();
    const page = await shown.rows(from, rowsPerPage);
    const answers: Answer[] = [[`${base}/rows?from=${from}&count=${rowsPerPage}`, page]];
    for (const { row, id } of facts.rowCount > ownEntriesMax ? [] : page.rows) {
      answers.push([`${base}/entry/${row}`, await shown.entry(row, false)]);
      const place = conversation.place(row);
      if (place.tip === null) answers.push([`${base}/turns/place?row=${row}`, place]);
      answers.push([`${base}/place?${new URLSearchParams({ id }).toString()}`, { row, id }]);
    }
    yield answers;
  }
  // The context of every entry would be as long as all of them together, each time.
  const { leafRow } = facts;
  if (leafRow !== null) yield [[`${base}/context?row=${leafRow}`, await shown.context(leafRow)]];
}

async function* document(
  script: string,
  style: string,
  { name, firstMessage }: SessionItem,
  groups: AsyncIterable<readonly Answer[]>,
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
<title>${titleText(name ?? firstMessage ?? "A session")}</title>
<style>${style}</style></head>
<body><div id="page"></div><noscript>This page needs JavaScript.</noscript>`;
  // One text of all answers could be longer than a browser can hold.
  for await (const answers of groups) {
    const addresses = escaped(answers.map(([address]) => address).join(" "));
    const values = jsonIn(answers.map(([, answer]) => answer));
    yield `\n<script type="application/json" data-addresses="${addresses}">${values}</script>`;
  }
  yield `\n<script type="module">${code}</script></body></html>\n`;
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** No text of a session ends the element that it is in. */
function jsonIn(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", String.raw`\u003c`);
}

function titleText(text: string): string {
  return escaped(text.replaceAll(/\s+/g, " ").slice(0, 200));
}

function escaped(text: string): string {
  const marks = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return marks.replaceAll('"', "&quot;");
}
