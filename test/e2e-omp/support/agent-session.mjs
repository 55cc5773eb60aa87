// omp's own agent on our manager: `agent-session.mjs FACE SDK DIRECTORY`.
const [face, sdk, directory] = process.argv.slice(2);
const { SessionManager } = await import(face);
const { createAgentSession } = await import(sdk);

const manager = SessionManager.create(process.cwd(), directory);
const { session } = await createAgentSession({
  cwd: process.cwd(),
  sessionManager: manager,
  additionalDirectories: [directory],
});
const said = JSON.stringify({
  isSame: session.sessionId === manager.getSessionId(),
  directories: manager.getAdditionalDirectories(),
});
await session.dispose();
process.stdout.write(`${said}\n`, () => process.exit(0));
