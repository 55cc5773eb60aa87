/** The rule for session ids that callers choose. */
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import { assertValidSessionId } from "@branchlog/agents/pi";

const message =
  "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', " +
  "and start and end with an alphanumeric character";

describe("the id of a new session", () => {
  it.each(["abc-123_def.456", "a", "Z9", "01a1ffcb-0000-7000-8000-000000000000"])(
    "can be %s",
    (id) => {
      expect(() => assertValidSessionId(id)).not.toThrow();
    },
  );

  it.each([
    "",
    "-abc",
    "abc-",
    "_abc",
    "abc_",
    ".abc",
    "abc.",
    "abc/def",
    "abc\\def",
    "abc def",
    "..",
    "abc\n",
    "ä",
  ])("cannot be %j", (id) => {
    try {
      assertValidSessionId(id);
      expect.unreachable();
    } catch (error) {
      expect(isBranchlogError(error, "ERR_INVALID_SESSION_ID")).toBe(true);
      expect(error).toMatchObject({ message, id });
    }
  });
});
