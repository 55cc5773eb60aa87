/**
 * Files next to a session that say something of it: lists notice each change, and read no other.
 */
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import { findSessions } from "@branchlog/library";
import { KeptCatalog, findAmong } from "@branchlog/library/catalogs";
import { agentNamed, registerAgents } from "@branchlog/core/rows";
import { filesStamp } from "../../../packages/library/src/catalog/session-files.ts";
import { fixturePath } from "../../tools/import/imported.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const clineId = "1795941218519_16gyt";
const copilotId = "0b5c1f0e-0000-4000-8000-000000000000";

/** Where sessions of three agents are, each with a file that has its name. */
function homeOfThree(): string {
  const home = temporaryDirectory();
  const put = (fixture: string, path: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    cpSync(fixturePath(fixture), join(home, path), { recursive: true });
  };
  put("kimi/kimi-2.1.0.jsonl", "kimi/session_a/agents/main/wire.jsonl");
  put("copilot/copilot-1.0.20.jsonl", `copilot/${copilotId}/events.jsonl`);
  put(`cline/${clineId}`, `cline/${clineId}`);
  vi.stubEnv("BRANCHLOG_CACHE_DIR", join(home, "cache"));
  onTestFinished(() => void vi.unstubAllEnvs());
  return home;
}

const manifest = JSON.parse(
  readFileSync(fixturePath(`cline/${clineId}/${clineId}.json`), "utf8"),
) as { readonly metadata: object };

const renamings: Readonly<Record<string, (home: string, title: string) => void>> = {
  kimi: (home, title) => {
    const state = JSON.stringify({ title, isCustomTitle: true });
    writeFileSync(join(home, "kimi", "session_a", "state.json"), state);
  },
  copilot: (home, title) => {
    const workspace = `name: ${title}\nuser_named: true\n`;
    writeFileSync(join(home, "copilot", copilotId, "workspace.yaml"), workspace);
  },
  cline: (home, title) => {
    const named = { ...manifest, metadata: { ...manifest.metadata, title } };
    writeFileSync(join(home, "cline", clineId, `${clineId}.json`), JSON.stringify(named));
  },
};

it("a list shows current names, whatever was saved or read before", async () => {
  const title = fc.stringMatching(/^[A-Z][a-z]{3,9}$/);
  const changes = fc.oneof(
    fc.record({ agent: fc.constantFrom(...Object.keys(renamings)), title }),
    fc.constantFrom("unnamed" as const, "grown" as const, "nothing" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { maxLength: 6 }), async (steps) => {
      const home = homeOfThree();
      const places = ["kimi", "copilot", "cline"].map((name) => join(home, name));
      const kept = new KeptCatalog("off");
      for (const step of steps) {
        if (typeof step === "object") renamings[step.agent]?.(home, step.title);
        else if (step === "unnamed") {
          rmSync(join(home, "kimi", "session_a", "state.json"), { force: true });
        } else if (step === "grown") {
          const path = join(home, "copilot", copilotId, "events.jsonl");
          appendFileSync(path, `{"type":"session.info","id":"","data":{}}\n`);
        }
        const now = await findSessions(places, { artifacts: true, catalog: "off" });
        const saved = await findSessions(places, { artifacts: true });
        const again = await findAmong(places, { artifacts: true }, () => true, kept);
        expect(saved).toEqual(now);
        expect(again).toEqual(now);
        if (typeof step === "object") {
          expect(now.sessions.map(({ name }) => name)).toContain(step.title);
        }
      }
      vi.unstubAllEnvs();
    }),
    { numRuns: 20 },
  );
});

it("a list reads a file with a name, and a document, once until one of their files changes", async () => {
  const home = homeOfThree();
  const reads: string[] = [];
  const [kimi, cline] = [agentNamed("kimi"), agentNamed("cline")];
  if (kimi?.transcripts === undefined || cline?.documents === undefined) throw new Error("absent");
  const { transcripts, ...others } = kimi;
  const { documents } = cline;
  const counted = [
    {
      ...others,
      transcripts: {
        ...transcripts,
        indexedName: (path: string) => {
          reads.push("kimi");
          return transcripts.indexedName?.(path);
        },
      },
    },
    {
      ...cline,
      documents: {
        ...documents,
        toLog: (path: string) => {
          reads.push(basename(path));
          return documents.toLog(path);
        },
      },
    },
  ];
  registerAgents(counted);
  onTestFinished(() => void registerAgents([kimi, cline]));
  const places = [join(home, "kimi"), join(home, "cline")];
  const listed = async (): Promise<readonly string[]> => {
    reads.length = 0;
    await findSessions(places, { artifacts: true });
    return reads.toSorted();
  };
  const change = async (agent: string, title: string): Promise<void> => {
    renamings[agent]?.(home, title);
    const files = [
      join(home, "kimi", "session_a", "state.json"),
      join(home, "cline", clineId, `${clineId}.json`),
    ];
    // Until a later change would show in the times.
    await vi.waitFor(() => expect(filesStamp(files)).toBeDefined());
  };
  // Enough that a catalog is saved.
  const messages = join(home, "cline", clineId, `${clineId}.messages.json`);
  appendFileSync(messages, " ".repeat(100_000));
  const wire = join(home, "kimi", "session_a", "agents", "main", "wire.jsonl");
  appendFileSync(wire, `{"type":"turn.prompt","text":"${"x".repeat(100_000)}","time":1}\n`);
  await change("kimi", "One");
  await change("cline", "Two");
  expect(await listed()).not.toEqual([]);
  expect(await listed()).toEqual([]);
  await change("cline", "Three");
  expect(new Set(await listed())).toEqual(
    new Set(["agent_1795941239166_2drg7k.messages.json", `${clineId}.messages.json`]),
  );
  await change("kimi", "Four");
  expect(await listed()).toContain("kimi");
});
