// Puts checkpoints and writes into a thread until it is told how many or killed.
// Usage: node appending-process.mjs DIRECTORY THREAD NAME COUNT; each acknowledgement is a line.
import { writeSync } from "node:fs";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { BranchlogSaver } from "branchlog/langgraph";

const [directory, thread_id, name, count] = process.argv.slice(2);
const saver = new BranchlogSaver(directory);
const configurable = { thread_id, checkpoint_ns: "" };
for (let i = 0; i < Number(count); i += 1) {
  const id = `${name}-${String(i).padStart(3, "0")}`;
  const checkpoint = {
    ...emptyCheckpoint(),
    id,
    ts: "",
    channel_values: { n: i },
    channel_versions: { n: 1 },
  };
  const metadata = { source: "loop", step: i, parents: {} };
  const config = await saver.put({ configurable }, checkpoint, metadata, { n: 1 });
  await saver.putWrites(
    config,
    [
      ["n", i],
      ["n", i + 1],
    ],
    "task",
    "path",
  );
  writeSync(1, `${i}\n`);
}
await saver.end();
