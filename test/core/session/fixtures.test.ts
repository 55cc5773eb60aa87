/** Every fixture through the whole engine: file, framer, envelopes, index, bodies, projections. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildContext } from "../../../packages/core/src/projections/context.ts";
import { Engine } from "../../../packages/core/src/session/engine.ts";
import { collected } from "../../support/collected.ts";
import { sessionOver } from "../../support/engine-session.ts";
import { fixtureFile } from "../../support/fixture.ts";
import { fixtureNames, readFixture } from "../projections/fixture-session.ts";
import type { ExpectedContext } from "../projections/fixture-session.ts";

const json = (value: unknown): string => JSON.stringify(value, null, 1);

function idOf(engine: Engine, { leaf, leafLine }: ExpectedContext): string | null {
  if (leaf !== undefined) return leaf;
  if (leafLine === undefined) return engine.tailId;
  const { lines } = engine.log.state.indexer;
  for (let row = 0; row < engine.index.count; row += 1) {
    if (lines.lineOfRow(row) === leafLine) return engine.index.idOf(row);
  }
  throw new Error(`no entry on line ${leafLine}`);
}

const paths = fixtureNames().map((name) => ({ name, path: fixtureFile(name) }));

describe.each(paths)("the fixture $name, opened as a session", ({ name, path }) => {
  const { expected } = readFixture(name);

  it.each([undefined, 1024, 64])("has its expected projections (lineBytesMax %s)", async (max) => {
    const before = readFileSync(path);
    const options = max === undefined ? {} : { lineBytesMax: max };
    const engine = await Engine.open(path, { ...options, access: "read" });
    const session = sessionOver(engine);
    for (const context of expected.contexts) {
      const { messages, thinkingLevel, model, truncatedAt } = context;
      const wanted = json({ messages, thinkingLevel, model, truncatedAt });
      const at = idOf(engine, context);
      expect(json(await session.context({ at }))).toBe(wanted);
      expect(json(buildContext(engine.pathView(at)))).toBe(wanted);
    }
    expect([...session.labels].map(([targetId, label]) => ({ targetId, ...label }))).toEqual(
      expected.labels,
    );
    expect(session.name ?? null).toBe(expected.name);
    expect((await session.usage).total).toEqual(expected.usageTotal);
    const { messageCount, firstMessage = null, lastActivityMs = null } = await session.summary;
    expect({ messageCount, firstMessage, lastActivityMs }).toEqual(expected.summary);
    expect(readFileSync(path)).toEqual(before);
  });

  it("indexes the same with any limit on lines", async () => {
    const facts = async (lineBytesMax: number): Promise<unknown> => {
      const session = sessionOver(await Engine.open(path, { lineBytesMax }));
      const tree = session.tree();
      expect(tree.kinds().reduce((sum, { count }) => sum + count, 0)).toBe(tree.size);
      const nodes = tree.roots.flatMap((root) => [tree.node(root), tree.children(root)]);
      return {
        nodes,
        kinds: tree.kinds(),
        entries: await collected(session.entries()),
        tips: session.tips(),
        diagnostics: session.diagnostics,
      };
    };
    const wanted = await facts(16 * 1024 * 1024);
    for (const max of [1024, 256, 16]) expect(await facts(max)).toEqual(wanted);
  });
});
