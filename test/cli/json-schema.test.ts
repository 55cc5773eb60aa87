/** What the commands print with `--json` is what docs/json-schema.json says, and nothing else. */
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { runs, seed } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";
import { samplesOf } from "./command-samples.ts";
import { placesFor, samplesOn } from "./sample-places.ts";

type Schema = Readonly<Record<string, unknown>>;

const schema = JSON.parse(
  readFileSync(new URL("../../docs/json-schema.json", import.meta.url), "utf8"),
) as Schema & { readonly $id: string; readonly $defs: Schema };

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same for programs that refuse what is not documented: by default, no other fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one));
  if (!isSchema(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, closed(one)] as const);
  const own = Object.fromEntries(entries);
  const isObject = value["type"] === "object" && "properties" in value;
  return isObject ? { additionalProperties: false, ...own } : own;
}

const ajv = new Ajv2020({ allowUnionTypes: true, allErrors: true }).addSchema(
  closed(schema) as Schema,
);

function requireValid(definition: string, text: string, words: readonly string[]): void {
  for (const line of jsonLines(text)) {
    const isValid = ajv.validate(`${schema.$id}#/$defs/${definition}`, line);
    const about = `${JSON.stringify(words)}\n${JSON.stringify(line)}\n${ajv.errorsText()}`;
    expect(isValid, about).toBe(true);
  }
}

/** One that watches is interrupted as soon as it has shown all. */
async function requireDescribed(words: readonly string[]): Promise<void> {
  const [name = ""] = words;
  const interrupt = new AbortController();
  const out = new MemoryOutput({
    onWrite: (text) => {
      if (name === "watch" && text.includes('"kind":"live"')) interrupt.abort();
      if (name === "serve" && text.includes('"url"')) interrupt.abort();
    },
  });
  const all = [...words, "--json"];
  const { code, err } = await branchlog(all, { out, signal: interrupt.signal });
  requireValid(name, out.text, all);
  // Other output is for people.
  if (code === 2 || out.text === "") requireValid("error", jsonOnly(err), all);
}

function jsonOnly(text: string): string {
  return text.replaceAll(/^(?!\{).*\n/gm, "");
}

const sources = [
  "pi-missing-parents.jsonl",
  "pi-context-edits.jsonl",
  "omp-18.jsonl",
  "claude/damaged.jsonl",
  "connectonion-dumped.yaml",
];

/** All in a soak run; else one, by turns over the commands. */
function sourcesFor(command: string): readonly string[] {
  const turn = commandNames.indexOf(command) + seed;
  return sources.filter((_, n) => (n + turn) % runs(sources.length, 1) === 0);
}

describe.each(commandNames)("%s --json", (name) => {
  it("is described in the schema", () => {
    expect(schema.$defs).toHaveProperty(name);
    expect(schema["anyOf"]).toContainEqual({ $ref: `#/$defs/${name}` });
  });

  it.each(placesFor(name))("matches the schema with the arguments %s", async (what, at) => {
    for (const words of samplesOn(name, what, at)) await requireDescribed(words);
  });

  it.each(sourcesFor(name))("matches the schema with the arguments %s", async (source) => {
    for (let i = 0; ; i += 1) {
      const directory = temporaryDirectory();
      const file = join(directory, source.replace(/^.*\//, ""));
      cpSync(fixture(source), file);
      const [entryId = ""] = (await branchlog(["entries", file])).out.split(" ", 1);
      const output = temporaryDirectory();
      const words = samplesOf(name, { file, output, entryId })[i];
      if (words === undefined) return;
      await requireDescribed([name, ...words]);
    }
  });
});

describe("the schema", () => {
  it("describes fields that the samples omit", async () => {
    const directory = temporaryDirectory();
    const [logs, made] = [join(directory, "logs"), join(directory, "made")];
    mkdirSync(logs);
    for (const agent of ["claude", "codex"]) {
      cpSync(fixture(`${agent}/conversation.jsonl`), join(logs, `${agent}.jsonl`));
    }
    writeFileSync(join(logs, "old.jsonl.zst"), "");
    // The second time, all were imported before.
    for (let i = 0; i < 2; i += 1) await requireDescribed(["import", logs, "-o", made]);
    await requireDescribed(["list", directory]);
    await requireDescribed(["search", "e", directory]);
    await requireDescribed(["verify", made, join(directory, "missing.jsonl")]);
    const damaged = join(directory, "damaged.jsonl");
    const lines = readFileSync(fixture("pi-linear.jsonl"), "utf8").split("\n");
    writeFileSync(damaged, lines.with(3, (lines[3] ?? "").slice(0, 100)).join("\n"));
    utimesSync(damaged, 0, 0);
    for (const name of ["info", "verify", "repair"]) await requireDescribed([name, damaged]);
    for (const name of ["pi-duplicate-ids", "pi-cycles", "pi-missing-parents"]) {
      await requireDescribed(["verify", fixture(`${name}.jsonl`)]);
    }
    await requireDescribed(["info", damaged, "--no-such-option"]);
    await requireDescribed(["append", damaged, "--user", "x", "--expected-tail", "none"]);
  });

  it("describes every field", () => {
    const bare = Object.entries(schema.$defs).flatMap(([name, one]) => undescribed(one, name));
    expect(bare).toEqual([]);
  });

  it("allows fields that later releases add", () => {
    const open = new Ajv2020({ allowUnionTypes: true }).addSchema(schema);
    const line = { kind: "unlisted", path: "/a", added: true };
    expect(open.validate(`${schema.$id}#/$defs/unlisted`, line)).toBe(true);
    expect(ajv.validate(`${schema.$id}#/$defs/unlisted`, line)).toBe(false);
  });
});

/** Fields that say neither what they are, nor whose description is theirs, nor what their items are. */
function undescribed(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => undescribed(one, `${place}/${at}`));
  if (!isSchema(value)) return [];
  const fields = isSchema(value["properties"]) ? Object.entries(value["properties"]) : [];
  const bare = fields.filter(([, field]) => !isDescribed(field));
  return [
    ...bare.map(([name]) => `${place}/${name}`),
    ...Object.entries(value).flatMap(([key, one]) => undescribed(one, `${place}/${key}`)),
  ];
}

function isDescribed(field: unknown): boolean {
  if (!isSchema(field)) return false;
  if (["description", "$ref", "const"].some((key) => key in field)) return true;
  return "items" in field && isDescribed(field["items"]);
}
