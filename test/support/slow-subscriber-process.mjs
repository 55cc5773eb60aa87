// Pulls entries slowly while another session appends many of them, then takes the rest; tells what
// memory was held at most meanwhile. Usage: node --expose-gc … FILE BATCHES ENTRIES BYTES HOW
// HOW: drops what it gets, or keeps it.
import { openSession } from "@branchlog/core";
import { live } from "@branchlog/core/live";

const [path, ...numbers] = process.argv.slice(2);
const [batches, entries, bytes] = numbers.slice(0, 3).map(Number);
const keeps = numbers[3] === "keeps";
const kept = [];

function heldBytes() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const writer = await openSession(path, { bodyCacheBytesMax: 0 });
const reader = await openSession(path, { access: "read", bodyCacheBytesMax: 0 });
const events = live(reader).events();
const pushed = { count: 0, isInOrder: true };
const subscription = live(reader)
  .entries$()
  .subscribe(({ entry, revision }) => {
    if (keeps) kept.push(entry);
    pushed.count += 1;
    pushed.isInOrder &&= revision === pushed.count;
  });
let pulled = 0;
let isInOrder = true;
async function pull() {
  const { value } = await events.next();
  pulled += 1;
  isInOrder &&= value.revision === pulled && value.entry.data.n === pulled - 1;
}

await pull();
const before = heldBytes();
let most = 0;
let count = 1;
for (let batch = 0; batch < batches; batch += 1) {
  const drafts = Array.from({ length: entries }, (_, n) => {
    const data = { n: count + n, text: "x".repeat(bytes) };
    return { type: "custom", customType: "large", data };
  });
  await writer.appendAll(drafts);
  count += entries;
  await live(reader).waitFor({ revision: count });
  if (batch % 5 === 0) await pull();
  most = Math.max(most, heldBytes());
}
const pulledSlowly = pulled;
while (pulled < count) {
  await pull();
  if (pulled % entries === 0) most = Math.max(most, heldBytes());
}
await events.return();
subscription.unsubscribe();
const facts = { appended: count, pulledSlowly, pulled, isInOrder, pushed };
process.stdout.write(JSON.stringify({ ...facts, growthBytes: most - before }));
