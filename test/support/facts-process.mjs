// Opens logs to read, and prints what they hold: argv is their paths. Runs on dist.
import process from "node:process";
import { openSession } from "@branchlog/core";
import { decodeCounter } from "@branchlog/streaming";

const facts = [];
for (const path of process.argv.slice(2)) {
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  const tree = session.tree();
  const nodes = session.tips().map(({ id }) => [tree.node(id), tree.children(id)]);
  const { labels, name, tail, diagnostics, revision } = session;
  facts.push([tree.roots, tree.kinds(), nodes, [...labels], name, tail, revision, diagnostics]);
}
const hasKernel = typeof WebAssembly === "object";
process.stdout.write(JSON.stringify({ facts, hasKernel, parses: decodeCounter.parses }));
