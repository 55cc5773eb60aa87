/** What PyYAML reads for scalars without quotes: from its own answers, and asked where it is there. */
import { describe, expect, it } from "vitest";
import { foldedText, readPlain } from "../../../packages/agents/src/connectonion/plain-scalars.ts";
import { pythonWithYaml, runPython, withoutPython } from "../../support/python-yaml.ts";

/** A text, and what PyYAML makes of it; "beyond" is what JSON cannot say. */
const readings: readonly (readonly [string, unknown])[] = [
  ["", null],
  ["~", null],
  ["Null", null],
  ["nULL", "nULL"],
  ["yes", true],
  ["Off", false],
  ["y", "y"],
  ["n", "n"],
  ["oN", "oN"],
  ["0", 0],
  ["-0", 0],
  ["+12", 12],
  ["1_000", 1000],
  ["010", 8],
  ["-0b101", -5],
  ["0x1F", 31],
  ["0o17", "0o17"],
  ["089", "089"],
  ["12:30:45", 45_045],
  ["1:60", "1:60"],
  ["190:20:30.15", 685_230.15],
  ["1.5", 1.5],
  ["1.", 1],
  [".5", 0.5],
  ["-.5", "-.5"],
  ["1e5", "1e5"],
  ["1.0e+5", 100_000],
  ["1.0e5", "1.0e5"],
  [".inf", "beyond"],
  ["-.INF", "beyond"],
  [".NaN", "beyond"],
  ["9007199254740993", "beyond"],
  ["2025-12-03", "beyond"],
  ["2025-12-3", "2025-12-3"],
  ["2025-12-03 10:12:44", "beyond"],
  ["2025-12-03T10:12:44.5Z", "beyond"],
  ["2025-12-03 10:12", "2025-12-03 10:12"],
  ["hello", "hello"],
  ["1 file", "1 file"],
];

describe("a scalar without quotes", () => {
  it.each(readings)("%j is read as PyYAML does", (source, expected) => {
    const reading = readPlain(source);
    const value = reading.kind === "value" ? reading.value : source;
    expect(reading.kind === "beyond-json" ? "beyond" : value).toEqual(expected);
  });

  it.each([
    ["a\n  b", "a b"],
    ["a\n\n  b", "a\nb"],
    ["a\u2028  b", "a\u2028b"],
    ["a\u0085b \r\n c", "a b c"],
    ["a \u2029\n\u2028 b", "a\u2029\n\u2028b"],
  ])("over several lines is folded as PyYAML does: %j", (source, folded) => {
    expect(foldedText(source)).toBe(folded);
  });

  it.skipIf(pythonWithYaml === undefined)(`is what PyYAML says${withoutPython}`, () => {
    const script = [
      "import yaml, json, sys, math",
      "def plain(v):",
      "  if isinstance(v, bool) or v is None or isinstance(v, str): return v",
      "  if isinstance(v, int): return v if abs(v) < 2**53 else 'beyond'",
      "  if isinstance(v, float): return v if math.isfinite(v) else 'beyond'",
      "  return 'beyond'",
      "texts = json.load(sys.stdin)",
      "print(json.dumps([plain(yaml.safe_load('- ' + t)[0]) for t in texts]))",
    ];
    const answers = runPython(script.join("\n"), JSON.stringify(readings.map(([text]) => text)));
    expect(answers).toEqual(readings.map(([, expected]) => expected));
  });
});
