/** What the server answers: the page's files, its JSON, its streams. */
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { Hono } from "hono";
import type { Context } from "hono";
import { isBranchlogError } from "@branchlog/core";
import { invalidArgument } from "@branchlog/core/files";
import { agentNamed } from "@branchlog/core/rows";
import { answerHeaders, isSameSecret, placeVerdict, verdictOf } from "./access.ts";
import type { AccessRules, Asked } from "./access.ts";
import { archivedItems, archiveRequestIn, runArchiveRequest } from "./archived-list.ts";
import type {
  ApiError,
  ArchivedList,
  OutlinePage,
  SessionFacts,
  SessionItem,
  SessionList,
  TurnPage,
} from "./api.ts";
import { EventStream } from "./event-stream.ts";
import { htmlPieces } from "./export-html.ts";
import { hitStream } from "./search-stream.ts";
import { SessionCosts } from "./session-costs.ts";
import { changeIn, changed } from "./session-changes.ts";
import type { SessionDirectory, ShownPlace } from "./session-directory.ts";
import { shownPage } from "./blocks.ts";

export interface RouteOptions {
  readonly directory: SessionDirectory;
  readonly place: ShownPlace;
  readonly canWrite: boolean;
  /** The directory of the built page. */
  readonly assets: string;
  /** The rules once the port is known. */
  readonly rules: () => AccessRules;
  /** One of them lets one page in; later ones need its cookie. */
  readonly tokens: readonly string[];
  /** The place that a page with the token is sent to. */
  readonly start: string;
  /** Called with errors that are not sent to a page. */
  readonly onProblem: (error: unknown) => void;
}

const streamsMax = 200;
const changeBytesMax = 64 * 1024;
const groupings = ["project", "day", "model", "agent", "session", "turn"] as const;

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

export function routes(options: RouteOptions): Hono {
  const { directory, canWrite } = options;
  const app = new Hono();
  const costs = new SessionCosts(options.place, directory);
  const state = { isTokenUsed: false, streams: 0 };

  app.use("*", async (context: Context, next) => {
    for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value);
    // The streams below would never be read, and never end.
    if (context.req.method === "HEAD") {
      return failure(context, 405, "ERR_INVALID_ARGUMENT", "This server answers GET and POST.");
    }
    const token = context.req.query("token");
    if (token !== undefined && context.req.path === "/") {
      return enter(token, context, options, state);
    }
    const verdict = verdictOf(askedBy(context), options.rules());
    if (verdict.kind === "allowed") return next();
    return failure(context, verdict.status, "ERR_ACCESS", verdict.reason);
  });

  app.get("/api/sessions", (context) => {
    const list: SessionList = {
      sessions: directory.items(),
      canWrite,
      isComplete: directory.isComplete,
    };
    return context.json(list);
  });
  app.get("/api/archived", async (context) => {
    const list: ArchivedList = { sessions: await archivedItems(options.place, directory) };
    return context.json(list);
  });
  app.post("/api/archive", async (context) => {
    const refusal = refusedChange(context, canWrite);
    if (refusal !== undefined) return refusal;
    const asked = archiveRequestIn(await context.req.text());
    if (asked === undefined) throw invalidArgument("The body is not a valid change.");
    return context.json(await runArchiveRequest(asked, options.place, directory));
  });
  app.get("/api/session/:key", async (context) => {
    const { key } = context.req.param();
    const item = directory.item(key);
    const hasTree = context.req.query("tree") === "1";
    const facts = await directory.using(key, async (shown) => shown.facts({ hasTree }));
    const resume = resumeCommand(item);
    const all: SessionFacts = {
      ...facts,
      item,
      canWrite: canWrite && isOurs(item),
      resume,
    };
    return context.json(all);
  });
  app.get("/api/session/:key/rows", async (context) => {
    const [from, count] = [numberIn(context, "from", 0), numberIn(context, "count", 200)];
    const { key } = context.req.param();
    return context.json(await directory.using(key, (shown) => shown.rows(from, count)));
  });
  app.get("/api/session/:key/place", async (context) => {
    const { id, label } = context.req.query();
    const wanted = {
      ...(id === undefined ? {} : { id }),
      ...(label === undefined ? {} : { label }),
    };
    const { key } = context.req.param();
    return context.json(await directory.using(key, async (shown) => shown.place(wanted)));
  });
  app.get("/api/session/:key/entry/:row", async (context) => {
    const { key, row } = context.req.param();
    const isFull = context.req.query("full") === "1";
    const at = wholeNumber("row", row);
    return context.json(await directory.using(key, (shown) => shown.entry(at, isFull)));
  });
  addConversationRoutes(app, directory);
  app.get("/api/session/:key/context", async (context) => {
    const { key } = context.req.param();
    const row = context.req.query("row");
    const at = row === undefined ? null : wholeNumber("row", row);
    return context.json(await directory.using(key, (shown) => shown.context(at)));
  });
  app.get("/api/session/:key/compare", async (context) => {
    const [from, to] = [numberIn(context, "from"), numberIn(context, "to")];
    const { key } = context.req.param();
    return context.json(
      await directory.using(key, (shown) => shown.conversation.compare(from, to)),
    );
  });
  app.post("/api/session/:key/change", async (context) => {
    const refusal = refusedChange(context, canWrite);
    if (refusal !== undefined) return refusal;
    const change = changeIn(await context.req.text());
    if (change === undefined) throw invalidArgument("The body is not a valid change.");
    const item = directory.item(context.req.param("key"));
    return context.json(await changed(item, change, directory));
  });
  app.get("/api/search", (context) => {
    const { q = "", ...filter } = context.req.query();
    if (q === "") throw invalidArgument("Give a text to search for.");
    const stream = hitStream(q, filter, options);
    return context.body(stream, 200, { "Content-Type": "application/x-ndjson" });
  });
  app.get("/api/costs", async (context) => {
    const by = groupings.find((one) => one === context.req.query("by")) ?? "project";
    const { day, session } = context.req.query();
    const filter = {
      ...(day === undefined ? {} : { day }),
      ...(session === undefined ? {} : { session }),
    };
    return context.json(await costs.table(by, filter));
  });
  app.get("/api/events", (context) => {
    if (state.streams >= streamsMax) {
      return failure(context, 503, "ERR_BUSY", "Too many pages are open. Close some.");
    }
    state.streams += 1;
    const events = new EventStream(directory, context.req.query("key"), () => {
      state.streams -= 1;
    });
    context.req.raw.signal.addEventListener("abort", () => events.end(), { once: true });
    const stream = events.stream();
    return context.body(stream, 200, { "Content-Type": "text/event-stream" });
  });
  app.all("/api/*", (context) => failure(context, 404, "ERR_NOT_FOUND", "Not found."));
  app.get("*", (context) => asset(context, options.assets));

  app.onError((error, context) => {
    for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value);
    if (!isBranchlogError(error)) {
      const message = "The server failed; see the terminal of branchlog serve.";
      options.onProblem(error);
      return failure(context, 500, "ERR_UNKNOWN", message);
    }
    const isMissing = /NOT_FOUND|MISSING|GONE/.test(error.code);
    const isInvalid = /INVALID_ARGUMENT|READ_ONLY|NOT_A_SESSION/.test(error.code);
    return failure(context, isMissing ? 404 : isInvalid ? 400 : 500, error.code, error.message);
  });
  return app;
}

function askedBy({ req }: Context): Asked {
  return {
    method: req.method,
    host: req.header("host"),
    origin: req.header("origin"),
    site: req.header("sec-fetch-site"),
    cookie: req.header("cookie"),
    // The stream of events has no headers of its own.
    pageKey: req.header("x-branchlog-key") ?? req.query("page"),
    isForData: req.path.startsWith("/api/"),
  };
}

/** A page that comes with the token gets the cookie, once. */
function enter(
  token: string,
  context: Context,
  options: RouteOptions,
  state: { isTokenUsed: boolean },
): Response {
  const rules = options.rules();
  const asked = askedBy(context);
  // A link in a terminal or a chat comes from another site, and has the token.
  const place = placeVerdict({ ...asked, site: undefined }, rules);
  if (place.kind === "refused") return failure(context, place.status, "ERR_ACCESS", place.reason);
  const isKnown = verdictOf({ ...asked, site: undefined }, rules).kind === "allowed";
  const isToken = options.tokens.map((one) => isSameSecret(token, one)).includes(true);
  if (!isKnown && (state.isTokenUsed || !isToken)) {
    const reason = "This token was used already or is wrong. Start branchlog serve again.";
    return failure(context, 401, "ERR_ACCESS", reason);
  }
  // Who has the cookie alone gets no key of the page by it.
  const isFirst = isToken && !state.isTokenUsed;
  state.isTokenUsed = true;
  const cookie = `${rules.cookie}=${rules.secret}; HttpOnly; SameSite=Strict; Path=/`;
  context.header("Set-Cookie", cookie);
  // What is after the # is never sent on.
  return context.redirect(isFirst ? `${options.start}#key=${rules.pageKey}` : options.start, 303);
}

function failure(
  context: Context,
  status: 400 | 401 | 403 | 404 | 405 | 500 | 503,
  code: string,
  message: string,
): Response {
  if (context.req.path.startsWith("/api/")) {
    const error: ApiError = { code, message };
    return context.json(error, status);
  }
  // All messages are ours: nothing of the request is in them.
  const start = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Branchlog</title>';
  return context.html(`${start}<h1>Branchlog</h1><p>${message}</p></html>`, status);
}

/** Undefined: it comes from the page, and may change something. */
function refusedChange(context: Context, canWrite: boolean): Response | undefined {
  if (!canWrite) {
    const message = "This server is read-only. Start it with branchlog serve --write.";
    return failure(context, 403, "ERR_READ_ONLY", message);
  }
  if (context.req.header("x-branchlog") === undefined) {
    return failure(context, 403, "ERR_ACCESS", "A change needs the header of the page.");
  }
  // Requests without Content-Length are rejected.
  const size = Number(context.req.header("content-length") ?? Infinity);
  if (size > changeBytesMax) throw invalidArgument("The body is not a valid change.");
  return undefined;
}

function addConversationRoutes(app: Hono, directory: SessionDirectory): void {
  app.get("/api/session/:key/turns/place", async (context) => {
    const { key } = context.req.param();
    const row = optionalNumber(context, "row");
    return context.json(await directory.using(key, async (shown) => shown.conversation.place(row)));
  });
  app.get("/api/session/:key/share", async (context) => {
    const [first, last] = [numberIn(context, "from"), numberIn(context, "to")];
    const { key } = context.req.param();
    const [from, at] = await directory.using(key, async ({ conversation }) =>
      conversation.idsAt(first, last),
    );
    const { signal } = context.req.raw;
    const source = directory.sourceOf(directory.item(key));
    const pieces = htmlPieces(source, { from, at, redact: true, signal });
    // The first piece comes when all was read: a failure is still a failure then.
    const { value } = await pieces.next();
    // Never shown at this address: it would have the rights of the page.
    context.header("Content-Disposition", 'attachment; filename="session.html"');
    context.header("Content-Type", "application/octet-stream");
    return context.body(bytesOf(value ?? "", pieces));
  });
  app.get("/api/session/:key/timeline", async (context) => {
    const { key } = context.req.param();
    const tip = optionalNumber(context, "tip");
    return context.json(await directory.using(key, (shown) => shown.conversation.timeline(tip)));
  });
  app.get("/api/session/:key/:view{turns|outline}", async (context) => {
    const { key, view } = context.req.param();
    const [from, count] = [numberIn(context, "from", 0), numberIn(context, "count", 20)];
    const asked = { from, count, tip: optionalNumber(context, "tip") };
    const answer = await directory.using<TurnPage | OutlinePage>(key, async ({ conversation }) =>
      view === "turns" ? shownPage(await conversation.turns(asked)) : conversation.outline(asked),
    );
    return context.json(answer);
  });
}

function bytesOf(first: string, pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let waiting: string | undefined = first;
  return new ReadableStream({
    async pull(controller) {
      const next = waiting === undefined ? await pieces.next() : { done: false, value: waiting };
      waiting = undefined;
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

function optionalNumber(context: Context, name: string): number | null {
  const given = context.req.query(name);
  return given === undefined ? null : wholeNumber(name, given);
}

function numberIn(context: Context, name: string, absent?: number): number {
  const given = context.req.query(name);
  if (given === undefined && absent !== undefined) return absent;
  return wholeNumber(name, given ?? "");
}

function wholeNumber(name: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw invalidArgument(`${name} takes an integer.`);
}

/** Any other path is a place of the page. Names of files never come from the request. */
function asset(context: Context, assets: string): Response {
  const name = /^\/assets\/([a-z-]+\.(?:css|js|svg))$/.exec(context.req.path)?.[1] ?? "index.html";
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(assets, name));
  } catch {
    return failure(context, 404, "ERR_NOT_FOUND", "File not found.");
  }
  const type = mediaTypes[extname(name)] ?? "application/octet-stream";
  return context.body(new Uint8Array(bytes), 200, { "Content-Type": type });
}

/** Sessions of other agents are theirs to change. */
function isOurs({ agent }: SessionItem): boolean {
  const { transcripts, documents } = agentNamed(agent) ?? {};
  return transcripts === undefined && documents === undefined;
}

function resumeCommand({ agent, id, path }: SessionItem): string | null {
  const command = path.includes("://") ? null : agentNamed(agent)?.resume({ id, path });
  return command?.map(quoted).join(" ") ?? null;
}

function quoted(word: string): string {
  return /^[\w.:-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
