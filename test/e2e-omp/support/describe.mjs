// Says what a session manager makes of a file: `describe.mjs MANAGER FILE DIRECTORY`.
const [manager, file, directory] = process.argv.slice(2);
const { SessionManager } = await import(manager);

const session = await SessionManager.open(file, directory);
const { messages, models, thinkingLevel, injectedTtsrRules } = session.buildSessionContext();
const outline = (node) => [
  node.entry.id,
  node.label ?? null,
  node.children.map((child) => outline(child)),
];
const listed = await SessionManager.list(session.getCwd(), directory);
const said = JSON.stringify({
  header: session.getHeader()?.id,
  name: session.getSessionName() ?? null,
  leaf: session.getLeafId(),
  entries: session.getEntries(),
  branch: session.getBranch().map(({ id }) => id),
  tree: session.getTree().map((node) => outline(node)),
  context: { messages, models, thinkingLevel, injectedTtsrRules },
  usage: session.getUsageStatistics().cost,
  listed: listed.map(({ id, title }) => ({ id, title: title ?? null })),
});
process.stdout.write(`${said}\n`, () => process.exit(0));
