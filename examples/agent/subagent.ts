/**
 * A subagent in a separate process: `subagent.ts SESSION NAME PARENT [hangs]`. Its entries have
 * ids that say which step they are: a process that is started again continues after the last one.
 */
import { once } from "node:events";
import { openSession } from "branchlog";
import { assistant, user } from "./messages.ts";

const stepCount = 8;
const [, , path = "", name = "", parent = "", mode] = process.argv;

const session = await openSession(path);
let last = parent;
let step = 0;
for (; (await session.entry(idOf(step))) !== undefined; step += 1) last = idOf(step);
if (step > 0) console.log(`${name}: started again at step ${step}`);

for (; step <= stepCount; step += 1) {
  if (mode === "hangs" && step === 4) await neverAnswered();
  const draft =
    step === 0 ? user(`Do the ${name}.`) : assistant(`Step ${step} of the ${name} is done.`);
  await session.append(draft, { id: idOf(step), parent: { id: last } });
  last = idOf(step);
}
await session.close();
// The channel to the agent would keep the process alive.
process.disconnect();

function idOf(number: number): string {
  return `${name}-step-${number}`;
}

/** Stands for a model that never answers: the agent has to end this process. */
async function neverAnswered(): Promise<void> {
  await once(process, "disconnect");
  process.exit(1);
}
