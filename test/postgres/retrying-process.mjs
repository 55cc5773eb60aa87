/**
 * A program on pi's session manager that catches errors and tries again: with the address of its
 * session, it appends a message for each line of its input, and prints the id, or the error.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import "../../packages/postgres/dist/blocking.js";
import { SessionManager } from "../../packages/agents/dist/pi/index.js";

const [, , address] = process.argv;
const print = (value) => writeSync(1, `${JSON.stringify(value)}\n`);

// As libraries have them that clean up.
process.on("SIGINT", () => process.exit(9));
process.on("SIGTERM", () => process.exit(9));

const manager = SessionManager.open(address, undefined, "/work");
print("open");
for await (const content of createInterface(process.stdin)) {
  try {
    print({ id: manager.appendMessage({ role: "user", content, timestamp: 1 }) });
  } catch ({ code, uncertain }) {
    print({ code, uncertain });
  }
}
