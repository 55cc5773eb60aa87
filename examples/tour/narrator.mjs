/** Tells the tour: chapters, facts, checks, the conclusion. With colours where they can be seen. */
import { createStyle, wantsColour } from "../../packages/cli/dist/index.js";

export class Narrator {
  #stream;
  #chapters = 0;

  /**
   * @param {import("node:tty").WriteStream} stream
   * @param {NodeJS.ProcessEnv} env
   */
  constructor(stream, env) {
    this.#stream = stream;
    const { NO_COLOR, FORCE_COLOR, TERM } = env;
    this.style = createStyle(wantsColour(stream.isTTY ?? false, { NO_COLOR, FORCE_COLOR, TERM }));
    this.columns = stream.columns ?? 110;
  }

  /** @param {string} title */
  chapter(title) {
    this.#chapters += 1;
    const gap = this.#chapters === 1 ? "" : "\n";
    this.say(`${gap}${this.style.heading(`${this.#chapters}. ${title}`)}\n`);
  }

  /** @param {string} text */
  say(text) {
    this.#stream.write(`${text}\n`);
  }

  /** @param {string} name @param {string} text */
  fact(name, text) {
    this.say(`${this.style.faint(name.padEnd(10))} ${text}`);
  }

  /** @param {string} claim @param {boolean} holds */
  check(claim, holds) {
    this.say(`${holds ? this.style.good("✓") : this.style.bad("✗")} ${claim}`);
  }

  /** @param {boolean} allHold */
  conclude(allHold) {
    const { good, bad } = this.style;
    this.say(allHold ? good("\nTour complete: nothing was lost.") : bad("\nTour failed."));
  }

  /** @param {readonly (readonly [command: string, purpose: string])[]} commands */
  next(commands) {
    this.say(`\n${this.style.heading("Next")}\n`);
    for (const [command, purpose] of commands) {
      this.say(`  ${command}\n      ${this.style.faint(purpose)}`);
    }
  }
}
