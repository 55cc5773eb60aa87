/** The name of a session: the latest session_info anywhere, cleared by an empty one. */
import { describe, expect, it } from "vitest";
import { sessionName } from "../../../packages/core/src/projections/name.ts";
import { foldAll } from "./fold.ts";
import { stored, user } from "./sample-entries.ts";

const nameAfter = (...names: unknown[]): string | undefined =>
  foldAll(
    sessionName,
    names.map((name) => stored("session_info", "i", null, { name })),
  );

describe("the name of a session", () => {
  it("is undefined until somebody gives one", () => {
    expect(nameAfter()).toBeUndefined();
    const state = sessionName.initial();
    const record = { revision: 1, entry: user("1", null, "one") };
    expect(sessionName.apply(state, record)).toBeUndefined();
  });

  it("is the latest, without surrounding white space", () => {
    expect(nameAfter("Draft", "  Final name\n")).toBe("Final name");
  });

  it.each(["", "  ", null, undefined])("is cleared by %j", (name) => {
    expect(nameAfter("Draft", name)).toBeUndefined();
  });

  it.each([5, true, {}, []])("is not changed by %j", (name) => {
    expect(nameAfter("Draft", name)).toBe("Draft");
  });
});
