// Appends lines as omp's manager does, until it is told how many or killed; each acknowledgement is
// a line on stdout. Usage: node appending-process.mjs FILE NAME COUNT
import { writeSync } from "node:fs";
import { ompSessionStorage } from "branchlog/omp";

const [path, name, count] = process.argv.slice(2);
const writer = ompSessionStorage().openWriter(path);
for (let i = 0; i < Number(count); i += 1) {
  const entry = { type: "message", id: `${name}-${i}`, text: "ä".repeat(i % 999) };
  writer.appendSync(`${JSON.stringify(entry)}\n`);
  writeSync(1, `${i}\n`);
}
