/** The turns as they are emitted. */
import { expect, it } from "vitest";
import type { EntryDraft } from "@branchlog/core";
import { live } from "@branchlog/core/live";
import { managersWith } from "@branchlog/core/testing";
import { assistantMessage } from "../projections/sample-entries.ts";
import { say, seen, turns as turnsOfTheLoop, values, World } from "./support.ts";

const answer = (text: string): EntryDraft => ({ type: "message", message: assistantMessage(text) });

it("come as they grow, and again when something is said about one", async () => {
  const world = new World();
  const session = await world.create();
  const emitted = seen(live(session).turns$);
  await turnsOfTheLoop();
  const { id } = await session.append(say("one"));
  await turnsOfTheLoop();
  await session.append(answer("first"));
  await turnsOfTheLoop();
  await session.append({ type: "label", targetId: id, label: "x" });
  await turnsOfTheLoop();
  await session.append(say("two"));
  await turnsOfTheLoop();
  const data = { targetId: id, fields: { passed: true } };
  await session.append({ type: "custom", customType: "branchlog.turn", data });
  await turnsOfTheLoop(8);
  const shown = values(emitted).map((list) =>
    [...list].map(({ input, result, passed }) => [input, result, passed]),
  );
  expect(shown).toEqual([
    [],
    [["one", "", undefined]],
    [["one", "first", undefined]],
    [
      ["one", "first", undefined],
      ["two", "", undefined],
    ],
    [
      ["one", "first", true],
      ["two", "", undefined],
    ],
  ]);
  const last = values(emitted).at(-1);
  expect(last?.length).toBe(2);
  expect(last?.at(0)?.input).toBe("one");
  expect(last?.at(-1)?.input).toBe("two");
  expect(last?.at(2)).toBeUndefined();
  expect(last?.at(-3)).toBeUndefined();
  expect(last?.slice(1).map(({ turn }) => turn)).toEqual([2]);
  expect(JSON.parse(JSON.stringify(last))).toEqual(await session.turns());
});

it("follow the leaf to another branch, and what other processes append", async () => {
  const world = new World();
  const session = await world.create();
  const { id } = await session.append(say("one"));
  await session.append(say("two"));
  const emitted = seen(live(session).turns$);
  await turnsOfTheLoop();
  await session.moveTo(id);
  await turnsOfTheLoop();
  await session.follow();
  const other = await world.open();
  await other.append(say("three"));
  await world.hint();
  await turnsOfTheLoop(8);
  const inputs = values(emitted).map((list) => [...list].map(({ input }) => input));
  expect(inputs[0]).toEqual(["one", "two"]);
  expect(inputs[1]).toEqual(["one"]);
  expect(inputs.at(-1)).toEqual(["one", "two", "three"]);
});

it("of a session manager go with it to another session", async () => {
  const world = new World();
  const manager = managersWith({ ports: world.ports }).create("/w", "/sessions");
  const shown = seen(live(manager).turns$);
  manager.appendMessage({ role: "user", content: "one", timestamp: 1 });
  await turnsOfTheLoop(8);
  manager.newSession();
  await turnsOfTheLoop(8);
  manager.appendMessage({ role: "user", content: "other", timestamp: 1 });
  await turnsOfTheLoop(8);
  const inputs = values(shown).map((list) => [...list].map(({ input }) => input));
  expect(inputs).toEqual([[], ["one"], [], ["other"]]);
});
