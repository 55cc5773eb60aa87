/** Starts the server of the page, on this machine only by default. */
import { createHmac, randomBytes } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import { createAdaptorServer } from "@hono/node-server";
import type { AddressInfo } from "node:net";
import { BranchlogError } from "@branchlog/core";
import type { AccessRules } from "./access.ts";
import { assetsDirectory } from "./assets-directory.ts";
import { routes } from "./routes.ts";
import { SessionDirectory, keyOfPath } from "./session-directory.ts";
import type { ShownPlace } from "./session-directory.ts";

export interface ServeOptions {
  readonly place: ShownPlace;
  /** Default 0: a free one. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. Any other address needs a `token`. */
  readonly host?: string | undefined;
  /**
   * What an address may have in place of the random token, once for each start. Pages stay open
   * when the server is started again with it. At least 16 characters.
   */
  readonly token?: string | undefined;
  /** The path of the session that the page opens with. Default: the list. */
  readonly session?: string | undefined;
  /** Whether the page may change sessions. Default false. */
  readonly write?: boolean;
  /** Called with errors that are not sent to a page. */
  readonly onProblem?: (error: unknown) => void;
}

export interface Served {
  /** With the token: anyone with it can open the page, once. */
  readonly url: string;
  readonly port: number;
  /** What is held for pages now. */
  readonly counts: () => { readonly listeners: number; readonly openSessions: number };
  readonly close: () => Promise<void>;
}

const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);
const tokenUnitsMin = 16;

/**
 * Resolves once it listens; the sessions are read from then on.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a host that is not of this machine without a
 * token; `ERR_SERVE_FAILED` if the port is taken, or the page was not built.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { place, port = 0, host = "127.0.0.1", write = false } = options;
  const onProblem = options.onProblem ?? ((): void => undefined);
  if (!loopback.has(host) && options.token === undefined) {
    const message =
      `${host} can be reached from other machines, so it needs a token: set BRANCHLOG_TOKEN to a ` +
      "text that cannot be guessed. Nothing was started.";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  const token = randomBytes(24).toString("base64url");
  if (options.token !== undefined && options.token.length < tokenUnitsMin) {
    throw new BranchlogError("ERR_INVALID_ARGUMENT", "The token has fewer than 16 characters.");
  }
  const directory = new SessionDirectory(place);
  // With a token of the user's, pages stay open when the server is started again. It is not in the
  // address, where anyone who finds it later could make the cookie of it.
  const seed = options.token ?? randomBytes(32);
  const derived = (use: string): string =>
    createHmac("sha256", seed).update(use).digest("base64url");
  const secrets = { secret: derived("cookie"), pageKey: derived("page") };
  let rules: AccessRules = { hosts: [], ...secrets, cookie: "" };
  const app = routes({
    directory,
    place,
    canWrite: write,
    assets: assetsDirectory(),
    rules: () => rules,
    tokens: options.token === undefined ? [token] : [token, options.token],
    start: options.session === undefined ? "/" : `/s/${keyOfPath(options.session)}`,
    onProblem,
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  const listening = await new Promise<AddressInfo>((resolve, reject) => {
    server.once("error", (error: Error) => reject(notStarted(host, port, error)));
    server.listen(port, host, () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address);
      else reject(notStarted(host, port, new Error("it has no address")));
    });
  });
  rules = {
    hosts: namesOf(host).map((name) => `${name}:${listening.port}`),
    ...secrets,
    cookie: `branchlog-${listening.port}`,
  };
  directory.start().catch(onProblem);
  return {
    url: `http://${bracketed(host)}:${listening.port}/?token=${encodeURIComponent(token)}`,
    port: listening.port,
    counts: () => ({ listeners: directory.listenerCount, openSessions: directory.openCount }),
    close: async () => {
      await directory.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}

/** As they are in `Host`. Of a server that listens everywhere: all addresses of the machine. */
function namesOf(host: string): readonly string[] {
  const own = ["127.0.0.1", "localhost", "[::1]"];
  if (loopback.has(host)) return own;
  if (host !== "0.0.0.0" && host !== "::") return [bracketed(host)];
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const others = addresses.map(({ address }) => bracketed(address));
  return [...own, bracketed(host), hostname(), ...others];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function notStarted(host: string, port: number, cause: Error): BranchlogError {
  const message =
    `The server could not listen on ${host}, port ${port} (${cause.message}). ` +
    "Choose another port with --port, or an address of this machine with --host.";
  return new BranchlogError("ERR_SERVE_FAILED", message, { cause });
}
