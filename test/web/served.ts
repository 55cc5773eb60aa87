/** A server for a test, and requests to it with any header, as other programs could send them. */
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { serve } from "@branchlog/web";
import type { ServeOptions, Served } from "@branchlog/web";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TestServer extends Served {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly ask: (path: string, asking?: Asking) => Promise<Answer>;
  /** With the cookie of a page that was opened. */
  readonly get: <T>(path: string) => Promise<T>;
  readonly cookie: string;
  /** Of a page that was opened: what `ask` adds to requests with the cookie. */
  readonly pageKey: string;
}

export async function testServer(
  place: ServeOptions["place"],
  options: Partial<ServeOptions> = {},
): Promise<TestServer> {
  const served = await serve({ place, ...options });
  onTestFinished(() => served.close());
  const host = `127.0.0.1:${served.port}`;
  const ask = (path: string, asking: Asking = {}): Promise<Answer> =>
    answerOf(served.port, path, {
      ...asking,
      headers: { host, ...(asking.headers?.["cookie"] === cookie ? keyed : {}), ...asking.headers },
    });
  let cookie = "";
  let keyed: Readonly<Record<string, string>> = {};
  const { search } = new URL(served.url);
  const entered = await ask(`/${search}`);
  cookie = (entered.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
  const pageKey = entered.headers.location?.split("#key=")[1] ?? "";
  keyed = { "x-branchlog-key": pageKey };
  const get = async <T>(path: string): Promise<T> => {
    const { status, text } = await ask(path, { headers: { cookie } });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    // Decoding boundary: the caller says which answer it requested.
    return JSON.parse(text) as T;
  };
  return { ...served, host, ask, get, cookie, pageKey };
}

function answerOf(port: number, path: string, { method, headers, body }: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, method: method ?? "GET", headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

export interface OpenEvents {
  /** All that came so far. */
  readonly text: () => string;
  readonly until: (isThere: (text: string) => boolean) => Promise<void>;
  readonly end: () => void;
}

/** The events of a page; with `isSlow`, nothing of them is read. */
export function events(
  { port, host, cookie, pageKey }: Pick<TestServer, "port" | "host" | "cookie" | "pageKey">,
  query: string,
  isSlow = false,
): Promise<OpenEvents> {
  const key = pageKey === "" ? {} : { "x-branchlog-key": pageKey };
  return new Promise((resolve, reject) => {
    const asked = request(
      { port, path: `/api/events${query}`, headers: { host, cookie, ...key } },
      (response) => {
        let text = "";
        let tell: () => void = () => undefined;
        if (!isSlow) {
          response.on("data", (piece: Buffer) => {
            text += piece.toString();
            tell();
          });
        } else response.pause();
        const until = async (isThere: (all: string) => boolean): Promise<void> => {
          while (!isThere(text)) {
            await new Promise<void>((next) => {
              tell = next;
            });
          }
        };
        resolve({ text: () => text, until, end: () => asked.destroy() });
      },
    );
    asked.on("error", (error) => {
      reject(error);
    });
    asked.end();
  });
}
