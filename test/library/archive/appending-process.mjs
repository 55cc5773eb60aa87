// Appends lines to a file as pi does, without a lock: opens it by its path, writes, closes, and then
// acknowledges the line, until it is killed. Usage: node appending-process.mjs FILE SEED
import { closeSync, openSync, writeSync } from "node:fs";

const [path, seed] = process.argv.slice(2);
const never = new Int32Array(new SharedArrayBuffer(4));
let state = Number(seed);
for (let n = 0; ; n += 1) {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  const id = `w${n}-${seed}`;
  const line = `{"type":"custom","id":"${id}","parentId":null,"timestamp":"t","customType":"x:y"}`;
  const fd = openSync(path, "a");
  writeSync(fd, `${line}\n`);
  closeSync(fd);
  writeSync(1, `${line}\n`);
  // Pauses as long as a removal takes: some removals find the file unchanged, others do not.
  if ((state >>> 16) % 4 === 0) Atomics.wait(never, 0, 0, (state >>> 20) % 64);
}
