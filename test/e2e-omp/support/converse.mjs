// Holds a conversation through a session manager: `converse.mjs MANAGER CWD DIRECTORY [FILE]`.
// Prints the file and what the manager says of it.
const [manager, cwd, directory, file] = process.argv.slice(2);
const { SessionManager } = await import(manager);

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...nothing, output: 2, totalTokens: 2, cost: { ...nothing, total: 0.5 } };
const model = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
const user = (text) => ({ role: "user", content: text, timestamp: Date.now() });
const assistant = (text) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  ...model,
  usage,
  stopReason: "stop",
  timestamp: Date.now(),
});

const session = file
  ? await SessionManager.open(file, directory)
  : SessionManager.create(cwd, directory);
const round = file ? "continued" : "begun";
session.appendModelChange("anthropic/claude-sonnet-4-5");
session.appendThinkingLevelChange("high");
const first = session.appendMessage(user(`${round} by a user`));
session.appendMessage(assistant(`${round} by an assistant`));
await session.setSessionName(`${round} with a name`, "user");
session.appendModelChange("openai/gpt-4o", "smol");
session.appendCustomMessageEntry("ext", `${round} by an extension`, true);
session.appendTtsrInjection([`rule when ${round}`]);
session.appendLabelChange(first, `${round} here`);
session.branchWithSummary(first, `${round} elsewhere`);
const kept = session.appendMessage(assistant(`${round} on a branch`));
session.appendCompaction(`${round} compacted`, "short", kept, 100);
session.appendMessage(user(`${round} after a compaction`));
session.appendMessage(assistant(`${round} and answered`));
await session.flush();
const said = JSON.stringify({ file: session.getSessionFile() });
process.stdout.write(`${said}\n`, () => process.exit(0));
