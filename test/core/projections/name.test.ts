/**
 * The name of a session: what names it last, anywhere in the log, and all other places of names.
 */
import { describe, expect, it } from "vitest";
import { nameInForce, sessionName } from "../../../packages/core/src/projections/name.ts";
import type { GivenName } from "../../../packages/core/src/projections/name.ts";
import { foldAll } from "./fold.ts";
import { stored, user } from "./sample-entries.ts";

const nameAfter = (...names: unknown[]): GivenName =>
  foldAll(
    sessionName,
    names.map((name) => stored("session_info", "i", null, { name })),
  );

describe("the name of a session", () => {
  it("is undefined until an entry gives one", () => {
    expect(nameAfter()).toBeUndefined();
    const state = sessionName.initial();
    const record = { revision: 1, entry: user("1", null, "one") };
    expect(sessionName.apply(state, record)).toBeUndefined();
  });

  it("is the latest, without surrounding white space", () => {
    expect(nameAfter("Draft", "  Final name\n")).toBe("Final name");
  });

  it.each(["", "  ", null, undefined])("is cleared by %j", (name) => {
    expect(nameAfter("Draft", name)).toBeNull();
  });

  it.each([5, true, {}, []])("is not changed by %j", (name) => {
    expect(nameAfter("Draft", name)).toBe("Draft");
  });
});

describe("the current name", () => {
  const header = {
    type: "session",
    id: "a",
    timestamp: "",
    cwd: "",
    title: " in the header ",
  } as const;
  const slot = { title: "in the slot", updatedAt: "" };

  it.each([
    [{ slot, given: "given", header }, "in the slot"],
    [{ slot: { ...slot, title: " " }, given: "given", header }, "given"],
    [{ slot: { ...slot, title: " " }, given: undefined, header }, undefined],
    [{ slot: undefined, given: "given", header }, "given"],
    [{ slot: undefined, given: null, header }, undefined],
    [{ slot: undefined, given: undefined, header }, "in the header"],
    [{ slot: undefined, given: undefined, header: { ...header, title: "" } }, undefined],
    [{ slot: undefined, given: undefined, header: undefined }, undefined],
  ])("of %j is %s", (sources, name) => {
    expect(nameInForce(sources)).toBe(name);
  });

  it("is the latest of title_change and session_info entries", () => {
    const named = [
      stored("session_info", "1", null, { name: "by pi" }),
      stored("title_change", "2", "1", { title: "by omp", source: "user" }),
    ];
    expect(foldAll(sessionName, named)).toBe("by omp");
    expect(foldAll(sessionName, named.toReversed())).toBe("by pi");
    expect(foldAll(sessionName, [stored("title_change", "1", null, { name: "x" })])).toBeNull();
  });
});
