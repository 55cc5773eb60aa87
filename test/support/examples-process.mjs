// Runs programs one after the other, each once the one before has nothing left to do, and prints a
// line that begins with a form feed before each. What a program throws is printed.
// Usage: node examples-process.mjs PROGRAM...
import { pathToFileURL } from "node:url";

const programs = process.argv.slice(2);
process.on("beforeExit", () => {
  const program = programs.shift();
  if (program === undefined) return;
  process.stdout.write(`\f${program}\n`);
  import(pathToFileURL(program).href).catch((error) => process.stdout.write(`${error.stack}\n`));
});
