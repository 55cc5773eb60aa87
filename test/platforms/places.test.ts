/** Where Branchlog and agents keep their files, by the environment of each system. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { cachedSearchIndexes } from "@branchlog/core/files";
import { agentNamed } from "@branchlog/core/rows";
import { temporaryDirectory } from "../support/temporary-directory.ts";

type System = "linux" | "darwin" | "win32";

/** The home directory of a user without environment variables of their own. */
function homeOn(system: System): string {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: system });
  onTestFinished(() => {
    Object.defineProperty(process, "platform", { value: platform });
    vi.unstubAllEnvs();
  });
  const home = temporaryDirectory();
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
  for (const name of own) vi.stubEnv(name, undefined);
  return home;
}

const own = [
  "APPDATA",
  "BRANCHLOG_CACHE_DIR",
  "CLINE_DATA_DIR",
  "CLINE_DIR",
  "CRUSH_GLOBAL_DATA",
  "GOOSE_PATH_ROOT",
  "LOCALAPPDATA",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
];

const placesOf = (agent: string): readonly string[] => agentNamed(agent)?.places() ?? [];

describe("the cache of a user", () => {
  const places = [
    ["linux", ".cache/branchlog/search"],
    ["darwin", "Library/Caches/branchlog/search"],
    ["win32", "AppData/Local/branchlog/search"],
  ] as const;

  it.each(places)("is where %s keeps caches", (system, place) => {
    const home = homeOn(system);
    expect(cachedSearchIndexes()).toBe(join(home, place));
  });

  it("follows LOCALAPPDATA on Windows", () => {
    const home = homeOn("win32");
    vi.stubEnv("LOCALAPPDATA", join(home, "local"));
    expect(cachedSearchIndexes()).toBe(join(home, "local/branchlog/search"));
  });
});

describe("the sessions of an agent", () => {
  const extension = "Code/User/globalStorage/saoudrizwan.claude-dev/tasks";
  const places: readonly (readonly [string, System, string])[] = [
    ["cline", "linux", `.config/${extension}`],
    ["cline", "darwin", `Library/Application Support/${extension}`],
    ["cline", "win32", `AppData/Roaming/${extension}`],
    ["goose", "linux", ".local/share/goose/sessions"],
    ["goose", "darwin", ".local/share/goose/sessions"],
    ["goose", "win32", "AppData/Roaming/Block/goose/data/sessions"],
  ];

  it.each(places)("of %s on %s are in %s", (agent, system, place) => {
    const home = homeOn(system);
    expect(placesOf(agent)).toContain(join(home, place));
  });

  const registries: readonly (readonly [System, string])[] = [
    ["linux", ".local/share/crush"],
    ["darwin", ".local/share/crush"],
    ["win32", "AppData/Local/crush"],
  ];

  it.each(registries)("of Crush on %s are in the projects that %s names", (system, place) => {
    const home = homeOn(system);
    const project = { path: join(home, "shop"), data_dir: join(home, "shop", ".crush") };
    mkdirSync(join(home, place), { recursive: true });
    const registry = JSON.stringify({ projects: [project] });
    writeFileSync(join(home, place, "projects.json"), registry);
    expect(placesOf("crush")).toEqual([join(project.data_dir, "crush.db")]);
  });
});
