/**
 * An extension of pi that does on command what otherwise takes a keyboard: `/act [["name", …], …]`.
 * Entries are named by their place in the file; a negative place counts from the end.
 */

const usage = {
  input: 7,
  output: 3,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 10,
  cost: { input: 0.5, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 0.75 },
};

// oxlint-disable-next-line import/no-default-export -- what pi loads of an extension
export default function extension(pi) {
  pi.registerCommand("act", {
    description: "Does what it is told.",
    handler: async (argument, context) => {
      for (const [name, ...rest] of JSON.parse(argument)) {
        await acts[name](pi, context, ...rest);
      }
    },
  });
  pi.on("turn_end", (event) => {
    if (!JSON.stringify(event.message).includes("boundary")) return undefined;
    const drafts = [
      { type: "custom", customType: "turn", data: { results: event.toolResultEntryIds.length } },
      { type: "custom_message", customType: "note", content: "A note.", display: true },
      { type: "context_edit", targetId: event.messageEntryId, replacement: { content: "Edited." } },
    ];
    return { entries: [...event.entries, ...drafts] };
  });
}

function idOf(context, place) {
  return context.sessionManager.getEntries().at(place).id;
}

const acts = {
  navigate: (pi, context, place, options) => context.navigateTree(idOf(context, place), options),
  label: (pi, context, place, label) => pi.setLabel(idOf(context, place), label ?? undefined),
  entry: (pi, context, type, data) => pi.appendEntry(type, data),
  note: (pi, context, content) =>
    pi.sendMessage({ customType: "note", content, display: false, details: { by: "act" } }),
  name: (pi, context, name) => pi.setSessionName(name),
  edit: (pi, context, place, content) =>
    context.sessionManager.appendContextEdit(
      idOf(context, place),
      content === null ? null : { content },
    ),
  usage: (pi, context) => context.sessionManager.appendUsage("act", "here", "echo", usage),
  fork: (pi, context, place, position) => context.fork(idOf(context, place), { position }),
  start: (pi, context, name) =>
    context.newSession({
      parentSession: context.sessionManager.getSessionFile(),
      setup: async (manager) => {
        manager.appendSessionInfo(name);
        manager.appendCustomMessageEntry("setup", "Set up.", true);
        manager.appendMessage({ role: "user", content: "Before", timestamp: 1 });
      },
    }),
};
