/** Everything that a session says of its log, to compare one opening with another. */
import { openSession } from "@branchlog/core";
import type { Diagnostic, OpenOptions, Session } from "@branchlog/core";

/** What a session says, after it was opened and read to its end. */
export async function factsOf(session: Session): Promise<unknown> {
  const entries: { readonly id: string }[] = [];
  // First: reading finds damage, of which a session that saw the log grow may know already.
  for await (const entry of session.entries()) entries.push(entry);
  const tree = session.tree();
  const ids = new Set([...entries.map(({ id }) => id), ...session.tips().map(({ id }) => id)]);
  return {
    entries,
    nodes: [...ids].map((id) => [tree.node(id), tree.children(id)]),
    roots: tree.roots,
    tips: session.tips(),
    tail: session.tail,
    leaf: session.leaf,
    revision: session.revision,
    header: session.header,
    labels: [...session.labels],
    name: session.name,
    settings: session.settings,
    context: await session.context(),
    usage: await session.usage,
    summary: await session.summary,
    // In the order of the file: they are listed as they were found, which may have been earlier.
    diagnostics: session.diagnostics.toSorted((one, other) => placeOf(one) - placeOf(other)),
  };
}

/** The facts of a log that is opened so. */
export async function openedFacts(path: string, options: OpenOptions): Promise<unknown> {
  const session = await openSession(path, { access: "read", ...options });
  return factsOf(session);
}

function placeOf({ offset = -1 }: Diagnostic): number {
  return offset;
}
