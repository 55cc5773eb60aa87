/** oh-my-pi. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Agent } from "@branchlog/core/rows";
import { resolvePath } from "@branchlog/core/files";
import { resumedBy } from "../session-command.ts";
import { renamedSessionDirectory } from "./omp-directory.ts";

export const omp: Agent = {
  name: "omp",
  product: "oh-my-pi",
  places,
  resume: resumedBy("omp"),
  renamedDirectory: renamedSessionDirectory,
};

function places(): readonly string[] {
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

/** Validated before it becomes part of a path. */
function profileName(given: string | undefined): string | undefined {
  return given !== undefined && /^[A-Za-z0-9][\w.-]*$/.test(given) ? given : undefined;
}
