/** A drop-in session manager shown live: the same engine, whatever log it goes to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import type { SessionManager } from "@branchlog/agents/pi";
import { managersWith } from "@branchlog/agents/testing";
import { idsOf, say, seen, turns, values, World } from "./support.ts";

const speak = (manager: SessionManager, content: string): string =>
  manager.appendMessage({ role: "user", content, timestamp: 1 });

const create = (world: World): SessionManager =>
  managersWith({ ports: world.ports }).create("/w", "/sessions");

/** What another process appends to the file of a manager, which is told of it. */
async function appendFrom(world: World, manager: SessionManager, text: string): Promise<string> {
  const file = manager.getSessionFile() ?? expect.fail("no file");
  const other = await openSession(file, { ports: world.ports });
  const { id } = await other.append(say(text));
  world.hints.tell(file);
  await turns();
  return id;
}

describe("a session manager shown live", () => {
  it("continues when its draft becomes a file, and watches that from then on", async () => {
    const world = new World();
    const manager = create(world);
    const model = manager.appendModelChange("p", "m");
    const label = manager.appendLabelChange(model, "L");
    const events = seen(live(manager).entries$());
    const labels = seen(live(manager).labels$);
    const header = seen(live(manager).header$);
    const found = seen(live(manager).diagnostics$);
    await turns();
    expect(world.hints.watcherCount).toBe(0);
    const first = speak(manager, "one");
    await turns();
    expect(world.hints.watcherCount).toBe(1);
    const foreign = await appendFrom(world, manager, "two");
    expect(idsOf(events.items)).toEqual([model, label, first, foreign]);
    expect(labels.items.length).toBe(1);
    expect(header.items.length).toBe(1);
    expect(found.items.length).toBe(1);
  });

  it("continues from a later revision than the draft", async () => {
    const manager = create(new World());
    manager.appendModelChange("p", "m");
    const events = seen(live(manager).entries$({ from: 3 }));
    await turns();
    const [, third] = [speak(manager, "two"), speak(manager, "three")];
    await turns();
    expect(idsOf(events.items)).toEqual([third]);
    expect(live(manager).snapshot()).toMatchObject({ revision: 3, leaf: third });
  });

  it("restarts when it switches to another session", async () => {
    const world = new World();
    const manager = create(world);
    const one = speak(manager, "one");
    const file = manager.getSessionFile() ?? expect.fail("no file");
    const views = live(manager);
    const events = seen(views.entries$());
    const name = seen(views.name$);
    const count = seen(views.summary$);
    manager.appendSessionInfo("N");
    await turns();
    manager.newSession();
    await turns();
    const two = speak(manager, "two");
    const three = speak(manager, "three");
    await turns();
    manager.createBranchedSession(two);
    await turns();
    manager.setSessionFile(file);
    await turns();
    const [, named] = manager.getEntries();
    const expected = [one, named?.id, "reset", two, three, "reset", two, "reset", one, named?.id];
    expect(idsOf(events.items)).toEqual(expected);
    expect(values(name)).toEqual([undefined, "N", undefined, "N"]);
    expect(values(count).map(({ messageCount }) => messageCount)).toEqual([1, 0, 2, 1, 1]);
  });

  it("watches nothing once there is no subscriber", async () => {
    const world = new World();
    const manager = create(world);
    speak(manager, "one");
    const views = live(manager);
    const subscriptions = [seen(views.entries$()), seen(views.leaf$), seen(views.context$)];
    await turns();
    manager.newSession();
    speak(manager, "two");
    await turns();
    expect(world.hints.watcherCount).toBe(1);
    for (const { unsubscribe } of subscriptions) unsubscribe();
    await turns();
    expect(world.hints.watcherCount).toBe(0);
  });
});

const acts = ["speak", "label", "foreign", "branch", "new", "branched", "back", "wait"] as const;

async function act(
  world: World,
  manager: SessionManager,
  files: Set<string>,
  [what, pick]: readonly [(typeof acts)[number], number],
): Promise<void> {
  const file = manager.getSessionFile();
  const isFile = file !== undefined && world.fs.statSync(file) !== null;
  if (isFile) files.add(file);
  const ids = manager.getEntries().map(({ id }) => id);
  const id = ids[pick % Math.max(1, ids.length)];
  switch (what) {
    case "speak":
      speak(manager, `text ${pick}`);
      return;
    case "foreign":
      if (isFile) await appendFrom(world, manager, "foreign");
      return;
    case "new":
      manager.newSession();
      return;
    case "back":
      manager.setSessionFile([...files][pick % Math.max(1, files.size)] ?? "/sessions/none.jsonl");
      return;
    case "wait":
      await turns(pick % 3);
      return;
    case "label":
    case "branch":
    case "branched":
      if (id === undefined) return;
      if (what === "label") manager.appendLabelChange(id, `L${pick}`);
      else if (what === "branch") manager.branch(id);
      else manager.createBranchedSession(id);
  }
}

it("whatever a manager does, emissions since a reset are the log in order (Verifies: P14, P15)", async () => {
  const script = fc.array(fc.tuple(fc.constantFrom(...acts), fc.nat(50)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const world = new World();
      const manager = create(world);
      const views = live(manager);
      const events = seen(views.entries$());
      const hot = [seen(views.leaf$), seen(views.name$)] as const;
      const [tree, labels] = [seen(views.tree$), seen(views.labels$)];
      const context = seen(views.context$);
      const files = new Set<string>();
      for (const step of steps) await act(world, manager, files, step);
      await turns(8);
      const ids = manager.getEntries().map((entry) => entry.id);
      const all = idsOf(events.items);
      expect(all.slice(all.lastIndexOf("reset") + 1)).toEqual(ids);
      expect(hot.map(({ items }) => items.at(-1)?.value)).toEqual([
        manager.getLeafId(),
        manager.getSessionName(),
      ]);
      expect([...(tree.items.at(-1)?.value.roots ?? [])]).toEqual(
        manager.getTree().map(({ entry }) => entry.id),
      );
      const labelled = ids.flatMap((id) => manager.getLabel(id) ?? []);
      const labelsShown = labels.items.at(-1)?.value;
      expect(ids.flatMap((id) => labelsShown?.get(id)?.label ?? [])).toEqual(labelled);
      const { messages } = manager.buildSessionContext();
      expect([...(context.items.at(-1)?.value.messages ?? [])]).toEqual(messages);
      expect([...events.ends, ...hot.flatMap(({ ends }) => ends)]).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

it("live() of a session has its own observables", async () => {
  const session = await new World().create();
  expect(live(session)).toBe(live(session));
  expect(live(session).name$).toBe(live(session).name$);
  await session.close();
});
