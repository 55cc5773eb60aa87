/** The first half of the tour: what a session holds, through the formatting of the command. */
import { contextTexts, gatherInfo, infoText, openForReading, treeLines } from "@branchlog/cli";

const messagesShown = 4;

/**
 * Opens the session and shows its facts, the tree of its branches, and the end of its context.
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

  narrator.chapter("A session, as an agent left it");
  narrator.say(infoText(await gatherInfo(opened), style).trimEnd());

  narrator.chapter("The tree of its branches");
  narrator.say("Runs of entries in which nothing happens are one line; ◉ is where it goes on.\n");
  const shape = { all: false, depth: undefined, style, columns };
  for await (const line of treeLines(session, shape)) narrator.say(line.trimEnd());

  narrator.chapter("What the model would get");
  const texts = contextTexts(await session.context(), {
    last: messagesShown,
    isFull: false,
    style,
  });
  for (const text of texts) narrator.say(text.trimEnd());
}
