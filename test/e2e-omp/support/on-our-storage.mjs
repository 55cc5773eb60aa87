// omp's own manager on our storage, several turns: `on-our-storage.mjs MANAGER STORAGE WHAT …`.
import { setTimeout } from "node:timers/promises";

const [manager, ours, what, ...args] = process.argv.slice(2);
const { SessionManager } = await import(manager);
const { ompSessionStorage } = await import(ours);

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: zero };
let at = 0;
const message = (role, text) => ({
  role,
  content: role === "user" ? text : [{ type: "text", text }],
  ...(role === "user" ? {} : { api: "x", provider: "p", model: "m", usage, stopReason: "stop" }),
  timestamp: 1_780_000_000_000 + (at += 1),
});

async function begun(directory, address) {
  await blocking(address);
  const storage = ompSessionStorage(address === undefined ? {} : { address });
  const session = SessionManager.create("/work/app", directory, storage);
  session.appendMessage(message("user", "Why is the build red?"));
  const asked = session.appendMessage(message("assistant", "A test fails."));
  await session.setSessionName("The red build", "user");
  session.appendMessage(message("user", "Fix it ü"));
  session.branch(asked);
  session.appendMessage(message("user", "Skip it"));
  await session.flush();
  const path = session.getSessionFile();
  await session.close();
  const again = await SessionManager.open(path, undefined, storage);
  again.appendMessage(message("assistant", "Skipped."));
  await again.flush();
  await again.close();
  const listed = await SessionManager.list("/work/app", directory, storage);
  return {
    path,
    name: again.getSessionName(),
    entries: again.getEntries().length,
    branch: again.getBranch().length,
    listed: listed.map(({ title, messageCount }) => ({ title, messageCount })),
    text: await storage.readText(path),
  };
}

async function turns(path, name, count) {
  const session = await SessionManager.open(path, undefined, ompSessionStorage());
  for (let i = 0; i < Number(count); i += 1) {
    session.appendMessage(message("user", `${name}-${i}`));
    await setTimeout(1);
  }
  await session.flush();
  await session.close();
  return { entries: session.getEntries().length };
}

async function blocking(address) {
  if (address === undefined) return;
  await import(new URL("../../../postgres/dist/blocking.js", ours).href);
}

const said = JSON.stringify(await (what === "turns" ? turns(...args) : begun(...args)));
process.stdout.write(`${said}\n`, () => process.exit(0));
