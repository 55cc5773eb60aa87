/** The view of a path over a plain list of entries. */
import { describe, expect, it } from "vitest";
import { arrayPathView } from "../../../packages/core/src/projections/projection.ts";
import { assistant, stored, user } from "./sample-entries.ts";

describe("a path view over a list", () => {
  it("shows type, role, id and entry at each index", () => {
    const entries = [user("1", null, "one"), assistant("2", "1", "two"), stored("x", "3", "2", {})];
    const view = arrayPathView(entries);
    expect(view.length).toBe(3);
    expect([0, 1, 2].map((i) => view.type(i))).toEqual(["message", "message", "x"]);
    expect([0, 1, 2].map((i) => view.role(i))).toEqual(["user", "assistant", undefined]);
    expect([0, 1, 2].map((i) => view.id(i))).toEqual(["1", "2", "3"]);
    expect(view.entry(1)).toBe(entries[1]);
    expect(view.missingParentId).toBeUndefined();
    expect(arrayPathView(entries, "lost").missingParentId).toBe("lost");
  });

  it.each([null, undefined, "text", 5, {}, { role: 5 }])("has no role for %j", (message) => {
    expect(arrayPathView([stored("message", "1", null, { message })]).role(0)).toBeUndefined();
  });

  it("has the extension of an entry, and the role of a model change of omp", () => {
    const role = (type: string, fields: object): string | undefined =>
      arrayPathView([stored(type, "1", null, fields)]).role(0);
    const customType = (type: string, value: unknown): string | undefined =>
      arrayPathView([stored(type, "1", null, { customType: value })]).customType(0);
    expect(customType("custom", "todo")).toBe("todo");
    expect(customType("custom_message", "todo")).toBe("todo");
    expect(customType("custom", 5)).toBeUndefined();
    expect(customType("message", "todo")).toBeUndefined();
    expect(role("model_change", { model: "a/b", role: "smol" })).toBe("smol");
    expect(role("model_change", { model: "a/b" })).toBe("default");
    expect(role("model_change", { provider: "a", modelId: "b" })).toBeUndefined();
    expect(role("custom", { message: { role: "user" } })).toBeUndefined();
  });

  it.each([-1, 1, 0.5])("throws outside of its range, at %d", (i) => {
    const view = arrayPathView([user("1", null, "one")]);
    expect(() => view.type(i)).toThrow(RangeError);
    expect(() => view.entry(i)).toThrow(RangeError);
  });
});
