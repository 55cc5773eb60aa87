// Appends numbered lines to a file, some of them in two writes.
// Usage: node appending-lines.mjs FILE COUNT
import { closeSync, openSync, writeSync } from "node:fs";

const [path, count] = process.argv.slice(2);
const descriptor = openSync(path, "a");
for (let n = 0; n < Number(count); n += 1) {
  const line = `{"n":${n},"padding":"${"x".repeat((n * 37) % 400)}"}\n`;
  const cut = n % 3 === 0 ? Math.floor(line.length / 2) : 0;
  if (cut > 0) writeSync(descriptor, line.slice(0, cut));
  writeSync(descriptor, line.slice(cut));
}
closeSync(descriptor);
