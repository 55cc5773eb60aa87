/**
 * Access control of the server: only a browser opened with the token, on one of the server's own
 * names. Session text is hostile, and so are other pages and other programs of the machine. Pure.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export interface AccessRules {
  /** Its own for each port: cookies of one host are shared by all ports. */
  readonly cookie: string;
  /** Exact values of `Host`, as `127.0.0.1:4711`. */
  readonly hosts: readonly string[];
  /** The value of the cookie. */
  readonly secret: string;
  /**
   * An additional key of requests for data: browsers also send the cookie to servers on other ports
   * of the host, but this only to the page.
   */
  readonly pageKey: string;
}

export interface Asked {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, of browsers that send it. */
  readonly site: string | undefined;
  readonly cookie: string | undefined;
  /** Of the page; undefined: it is not a request for data, or has none. */
  readonly pageKey?: string | undefined;
  /** Whether it is a request for data: the files of the page need no key. */
  readonly isForData?: boolean;
}

export type Verdict =
  | { readonly kind: "allowed" }
  | { readonly kind: "refused"; readonly status: 401 | 403; readonly reason: string };

/** Of a request for anything but the first page. */
export function verdictOf(asked: Asked, rules: AccessRules): Verdict {
  const place = placeVerdict(asked, rules);
  if (place.kind === "refused") return place;
  const cookie = cookieIn(asked.cookie, rules.cookie);
  const hasCookie = cookie !== undefined && isSameSecret(cookie, rules.secret);
  const { isForData = false, pageKey = "" } = asked;
  if (hasCookie && (!isForData || isSameSecret(pageKey, rules.pageKey))) return place;
  const reason = "Open the address that branchlog serve printed: it contains a token.";
  return { kind: "refused", status: 401, reason };
}

/** Without the cookie: the host against rebinding of names, the origin against other pages. */
export function placeVerdict(asked: Asked, { hosts }: AccessRules): Verdict {
  if (asked.host === undefined || !hosts.includes(asked.host)) {
    return refused("The Host of this request is not a host of this server.");
  }
  const origins = hosts.map((host) => `http://${host}`);
  if (asked.origin !== undefined && !origins.includes(asked.origin)) {
    return refused("This request comes from another page.");
  }
  if (asked.method !== "GET" && asked.method !== "HEAD" && asked.origin === undefined) {
    return refused("A change needs the Origin of the page.");
  }
  if (asked.site !== undefined && asked.site !== "same-origin" && asked.site !== "none") {
    return refused("This request comes from another site.");
  }
  return { kind: "allowed" };
}

function refused(reason: string): Verdict {
  return { kind: "refused", status: 403, reason };
}

function cookieIn(header: string | undefined, wanted: string): string | undefined {
  for (const part of header?.split(";") ?? []) {
    const [name, value] = part.trim().split("=", 2);
    if (name === wanted) return value;
  }
  return undefined;
}

/** In the same time for every wrong value. */
export function isSameSecret(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

/** For every answer: only the page's own files run, and nothing leaves the machine. */
export const answerHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types branchlog dompurify",
  ].join("; "),
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};
