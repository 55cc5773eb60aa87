/** The first half of the tour: what a session holds, through the formatting of the command. */
import {
  contextTexts,
  gatherInfo,
  openForReading,
  treeLines,
} from "../../packages/cli/dist/index.js";

const messagesShown = 2;

/**
 * Opens the session and shows its facts, its main branch, and the end of its context.
 * @param {string} path
 * @param {import("./narrator.mjs").Narrator} narrator
 */
export async function showSession(path, narrator) {
  const { style, columns } = narrator;
  const opened = await openForReading(path, {
    monotonicMs: () => performance.now(),
    signal: new AbortController().signal,
  });
  const { session } = opened;

  narrator.chapter("A session of an agent");
  const { name, entries, tips, labels, usage } = await gatherInfo(opened);
  narrator.fact("name", name);
  narrator.fact("entries", `${entries} on ${tips.length} branches, ${labels.length} labels`);
  narrator.fact("spent", `$${usage.cost.toFixed(2)} in ${usage.requests} requests`);

  narrator.chapter("Its main branch");
  narrator.say(
    "Entries in between are counted, side branches are omitted; ◉ marks where the session continues.\n",
  );
  const shape = { all: false, depth: 0, style, columns };
  for await (const line of treeLines(session, shape)) narrator.say(line.trimEnd());

  narrator.chapter("The context for the model");
  const texts = contextTexts(await session.context(), {
    last: messagesShown,
    isFull: false,
    style,
  });
  for (const text of texts) narrator.say(text.trimEnd());
}
