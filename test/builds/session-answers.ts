/**
 * Everything that can be asked of a session, as JSON values; errors as their codes and messages.
 */

/** The part of a session that is compared. */
export interface ComparedSession {
  readonly header: object;
  readonly revision: number;
  readonly sizeBytes: number;
  readonly dialect: string;
  readonly leaf: string | null;
  readonly tail: string | null;
  readonly name: string | undefined;
  readonly labels: ReadonlyMap<string, unknown>;
  readonly settings: object;
  readonly usage: Promise<object>;
  readonly summary: Promise<object>;
  readonly diagnostics: readonly object[];
  entries(query?: object): AsyncIterable<{ readonly id: string }>;
  lines(): AsyncIterable<{ readonly bytes?: Uint8Array }>;
  branch(id?: string | null): Promise<object[]>;
  children(id: string | null): object[];
  tips(): object[];
  context(options?: object): Promise<object>;
  append(draft: object, options: object): Promise<object>;
  appendAll(drafts: readonly object[], options: object): Promise<object[]>;
  setName(name: string): Promise<object>;
  moveTo(id: string | null, options: object): Promise<void>;
  follow(): Promise<void>;
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Reads every byte of a session; a method of sessions in older builds. */
export type Verify = (session: ComparedSession) => Promise<object>;

/** What an attempt gave, or how it failed. */
export async function outcomeOf(attempt: () => unknown): Promise<unknown> {
  try {
    return { gave: plain(await attempt()) };
  } catch (error) {
    const { code, message, written, tail } = Object(error) as Readonly<Record<string, unknown>>;
    return { code, message, written, tail };
  }
}

/** See the file comment. The context is requested at each entry of the session. */
export async function answersOf(session: ComparedSession, verify: Verify): Promise<object> {
  const entries = await all(session.entries());
  const ids = [...new Set(entries.map(({ id }) => id))];
  const contexts = ids.map((id) => outcomeOf(() => session.context({ at: id })));
  return {
    state: plain([session.header, session.revision, session.sizeBytes, session.dialect]),
    places: [session.leaf, session.tail, session.name],
    labels: plain([...session.labels]),
    settings: plain(session.settings),
    entries: plain(entries),
    lines: (await all(session.lines())).map((line) => plain(line)),
    branch: await outcomeOf(() => session.branch()),
    children: [null, ...ids].map((id) => plain(session.children(id))),
    tips: plain(session.tips()),
    context: await outcomeOf(() => session.context()),
    contexts: await Promise.all(contexts),
    usage: await outcomeOf(() => session.usage),
    summary: await outcomeOf(() => session.summary),
    diagnostics: plain(session.diagnostics),
    verified: await outcomeOf(() => verify(session)),
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The value as another process gets it: maps as lists, bytes as text. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof Map
      ? [...member]
      : member instanceof Uint8Array
        ? Buffer.from(member).toString("latin1")
        : member,
  );
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
