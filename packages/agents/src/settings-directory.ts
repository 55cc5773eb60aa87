/** Where editors that are built on VS Code keep their settings, each in a directory of its name. */
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { resolvePath } from "@branchlog/core/files";

export function settingsDirectory(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env;
  if (platform() === "darwin") return join(homedir(), "Library", "Application Support");
  if (platform() === "win32") return APPDATA ?? join(homedir(), "AppData", "Roaming");
  return XDG_CONFIG_HOME ? resolvePath(XDG_CONFIG_HOME) : join(homedir(), ".config");
}
