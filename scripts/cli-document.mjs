/**
 * Writes what docs/cli.md says of commands and their options from the declarations that the help is
 * made of: `node scripts/cli-document.mjs [--check]`; with `--check` nothing is written, and it ends
 * with 1 if something would be. Needs a build.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { commands } from "../packages/cli/dist/commands.js";
import { optionRow } from "../packages/cli/dist/help-text.js";
import { root } from "./checks/packages.mjs";

const path = join(root, "docs", "cli.md");
const before = readFileSync(path, "utf8");
const after = documentOf(before);
if (process.argv.includes("--check")) {
  if (after === before) process.exit(0);
  console.error("docs/cli.md is not what the commands declare: run npm run docs:cli.");
  process.exitCode = 1;
} else writeFileSync(path, after);

function documentOf(text) {
  const [start, ...others] = sectionsOf(text);
  const anchors = new Map(
    others.flatMap((section) => namesIn(section).map((name) => [name, anchorOf(section)])),
  );
  const absent = commands.filter(({ name }) => !anchors.has(name));
  if (absent.length > 0) throw new Error(`docs/cli.md has no section of ${absent[0].name}.`);
  return [inBlock(start, "commands", commandTable(anchors)), ...others.map(withOptions)].join("");
}

/** Headings within what a command prints are none. */
function sectionsOf(text) {
  const parts = text.split(/^(```[^]*?^```$)/m);
  const marked = parts.map((part, at) =>
    at % 2 === 1 ? part : part.replaceAll(/^## /gm, "\0## "),
  );
  return marked.join("").split("\0");
}

/** Of `## archive, restore and prune`; of other headings none. */
function namesIn(section) {
  const heading = /^## (.*)$/m.exec(section)?.[1] ?? "";
  const words = heading.split(/, | and /);
  return words.filter((word) => commands.some(({ name }) => name === word));
}

function anchorOf(section) {
  const heading = /^## (.*)$/m.exec(section)?.[1] ?? "";
  return `#${heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-")}`;
}

function commandTable(anchors) {
  const rows = commands.map(
    ({ name, usage, about }) => `| [\`${usage}\`](${anchors.get(name)}) | ${cell(about)} |`,
  );
  return [
    "| command | what it does |",
    "|---|---|",
    ...rows,
    "| [`completion [shell]`](#in-the-shell) | Print a script that completes commands in your shell |",
  ].join("\n");
}

function withOptions(section) {
  const names = namesIn(section);
  if (names.length === 0) return section;
  const tables = commands.filter(({ name }) => names.includes(name)).map(optionTable);
  return inBlock(section, "options", tables.join("\n\n"));
}

function optionTable({ usage, positionals, options }) {
  const places = Object.entries(positionals).map(([name, { describe }]) => [name, describe]);
  const given = Object.entries(options).map((one) => optionRow(one).map((text) => text.trim()));
  const rows = [...places, ...given].map(([left, right]) => `| \`${left}\` | ${cell(right)} |`);
  return [`| \`branchlog ${usage}\` | |`, "|---|---|", ...rows].join("\n");
}

function cell(text) {
  return text.replaceAll("|", String.raw`\|`).replaceAll("<", "&lt;");
}

/** Between marks, which are made at the end of the part if they are not there. */
function inBlock(part, name, text) {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const block = `${begin}\n\n${text}\n\n${end}`;
  const at = part.indexOf(begin);
  if (at < 0) return `${part.trimEnd()}\n\n${block}\n\n`;
  return `${part.slice(0, at)}${block}${part.slice(part.indexOf(end) + end.length)}`;
}
