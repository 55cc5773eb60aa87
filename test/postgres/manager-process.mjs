/** Appends messages with pi's session manager: address, name, count. Prints each acknowledged id. */
import { writeSync } from "node:fs";
import "../../packages/postgres/dist/blocking.js";
import { SessionManager } from "../../packages/agents/dist/pi/index.js";

const [, , address, who, count] = process.argv;

function open() {
  const manager = SessionManager.open(address, undefined, "/work");
  if (manager.getEntries().length > 0) return [manager, []];
  try {
    return [manager, [append(manager, 0)]];
  } catch (error) {
    if (error.code !== "ERR_LOG_EXISTS") throw error;
    return [SessionManager.open(address), []];
  }
}

function append(manager, n) {
  const id = appended(manager, { role: "user", content: `${who} ${n}`, timestamp: n });
  writeSync(1, `${id}\n`);
  return id;
}

/** Nothing was stored when others were first too often: it is appended again, as that error says. */
function appended(manager, message) {
  for (;;) {
    try {
      return manager.appendMessage(message);
    } catch (error) {
      if (error.code !== "ERR_APPEND_FAILED" || error.written.length > 0) throw error;
    }
  }
}

const [manager, begun] = open();
for (let n = begun.length; n < Number(count); n += 1) append(manager, n);
