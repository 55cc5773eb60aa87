/**
 * Where the agents of this machine keep their sessions, by their own rules: pi and co-mono, omp
 * with its profiles, and ConnectOnion in the working directory. Only looked at, nothing is made.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { getAgentDir, sessionsRoot } from "../adapters/pi/agent-directory.ts";
import { resolvePath } from "../adapters/pi/local-path.ts";

/**
 * The directories with sessions below them that are there, each once. They follow the environment
 * variables that the agents follow; read anew on each call.
 */
export function knownPlaces(): string[] {
  const flat = process.env["PI_CODING_AGENT_SESSION_DIR"];
  const places = [
    sessionsRoot(),
    join(resolvePath(getAgentDir()), "gateway-sessions"),
    ...(flat ? [resolvePath(flat)] : []),
    ...ompPlaces(),
    resolve(".co", "sessions"),
  ];
  return [...new Set(places)].filter((place) => existsSync(place));
}

function ompPlaces(): string[] {
  const { PI_CODING_AGENT_DIR, OMP_CODING_AGENT_DIR, PI_CONFIG_DIR, XDG_DATA_HOME } = process.env;
  const config = resolve(homedir(), PI_CONFIG_DIR || ".omp");
  const profile = profileName(process.env["OMP_PROFILE"] || process.env["PI_PROFILE"]);
  if (profile !== undefined) return [join(config, "profiles", profile, "agent", "sessions")];
  const configured = [PI_CODING_AGENT_DIR, OMP_CODING_AGENT_DIR].filter((place) => Boolean(place));
  const named = configured.map((place) => join(resolvePath(place ?? ""), "sessions"));
  if (named.length > 0) return named;
  const shared = XDG_DATA_HOME ? [join(resolve(XDG_DATA_HOME), "omp", "sessions")] : [];
  return [join(config, "agent", "sessions"), ...shared];
}

/** A name from outside never becomes a path unchecked. */
function profileName(given: string | undefined): string | undefined {
  return given !== undefined && /^[A-Za-z0-9][\w.-]*$/.test(given) ? given : undefined;
}
