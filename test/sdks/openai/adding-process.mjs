// Adds items to a session until it is told how many or killed; each acknowledgement is a line.
// Usage: node adding-process.mjs FILE NAME COUNT
import { writeSync } from "node:fs";
import { openaiSession } from "branchlog/openai";

const [path, name, count] = process.argv.slice(2);
const session = openaiSession(path);
for (let i = 0; i < Number(count); i += 1) {
  const content = `${name} ${i}`;
  const transaction = {
    type: "append_items",
    items: [0, 1].map((n) => ({ role: "user", content, n })),
  };
  // Distinguished by their operations, not by their texts.
  await session.applyHistoryTransaction({ operationId: `${name}-${i}`, transaction });
  writeSync(1, `${i}\n`);
}
await session.close();
