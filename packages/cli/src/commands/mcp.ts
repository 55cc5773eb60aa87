/** `branchlog mcp`: sessions as tools for agents, on standard input and output, until it ends. */
import { statSync } from "node:fs";
import { BranchlogError } from "@branchlog/core";
import { resolvePath } from "@branchlog/core/files";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { createMcpServer } from "../mcp/mcp-server.ts";
import { SessionReader } from "../mcp/session-reader.ts";
import { SessionScope } from "../mcp/session-scope.ts";
import { StandardTransport } from "../mcp/standard-transport.ts";
import { requireNoAddress } from "../session-path.ts";

export interface McpCommandOptions {
  /** Of sessions; empty: where agents keep theirs. */
  readonly dirs: readonly string[];
  readonly project: string | undefined;
  readonly redact: boolean;
  /** All of its output is JSON, with or without it. */
  readonly json: boolean;
}

export async function mcpCommand(
  { dirs, project, redact }: McpCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const places = dirs.length === 0 ? undefined : dirs.map(existingDirectory);
  const below = project === undefined ? undefined : existingDirectory(project);
  const scope = new SessionScope({ places, project: below });
  const reader = new SessionReader(scope, redact);
  const transport = new StandardTransport(io);
  const setting = { scope, reader, now: () => io.now(), monotonicMs: () => io.monotonicMs() };
  const server = createMcpServer(setting, io.version?.() ?? "");
  await server.connect(transport);
  // For later searches.
  if (places === undefined) io.runInBackground?.(["index", "update"]);
  await transport.ended;
  return 0;
}

/** A configuration is read without a shell, which would expand a tilde. */
function existingDirectory(word: string): string {
  requireNoAddress(word);
  const path = resolvePath(word);
  if (word !== "" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  const message = `${path} is not a directory. Give one that exists.`;
  throw new BranchlogError("ERR_LOG_MISSING", message, { path });
}
