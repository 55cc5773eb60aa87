/**
 * Prints the course and the outcome of the checks. Colours only on a terminal and only without
 * NO_COLOR. The last line is always `N passed, N failed`, with `, N skipped` if there are any.
 */

const codes = { ok: 32, failed: 31, skipped: 33 };

/** A report that is written while the steps run. */
export class Report {
  #stream;
  #colours;

  /**
   * @param {{ write(text: string): unknown, isTTY?: boolean }} stream
   * @param {Record<string, string | undefined>} environment
   */
  constructor(stream, environment) {
    this.#stream = stream;
    this.#colours = stream.isTTY === true && (environment.NO_COLOR ?? "") === "";
  }

  /** One line for a step; below it what a failed one printed. */
  step({ step, outcome, seconds, output }) {
    const reason = outcome === "skipped" ? ` (${output})` : "";
    const time = `${seconds.toFixed(1)} s`.padStart(8);
    this.#line(`${this.#paint(outcome, outcome.padEnd(7))} ${time}  ${step.name}${reason}`);
    if (outcome === "failed") this.#line(`\n  $ ${step.command.join(" ")}\n${output}\n`);
  }

  /** The table and the last line. @returns {boolean} Whether nothing failed. */
  summary(results) {
    const width = Math.max(...results.map(({ step }) => step.name.length), "check".length);
    this.#line(
      `\n${"check".padEnd(width)}  ${"outcome".padEnd(7)}  passed  failed  skipped   seconds`,
    );
    const total = { passed: 0, failed: 0, skipped: 0 };
    for (const { step, outcome, seconds, counts } of results) {
      for (const key of Object.keys(total)) total[key] += counts[key];
      const columns = [counts.passed, counts.failed, counts.skipped, seconds.toFixed(1)];
      const [passed, failed, skipped, time] = columns.map(String);
      const numbers = `${passed.padStart(6)}  ${failed.padStart(6)}  ${skipped.padStart(7)}`;
      const shown = this.#paint(outcome, outcome.padEnd(7));
      this.#line(`${step.name.padEnd(width)}  ${shown}  ${numbers}  ${time.padStart(8)}`);
    }
    const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
    this.#line(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
    return total.failed === 0;
  }

  #line(text) {
    this.#stream.write(`${text}\n`);
  }

  #paint(outcome, text) {
    return this.#colours ? `\u001b[${codes[outcome]}m${text}\u001b[0m` : text;
  }
}
