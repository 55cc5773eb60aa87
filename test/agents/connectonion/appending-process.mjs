// Appends turns to a document: `appending-process.mjs PATH NAME COUNT`.
import { openConnectonion } from "@branchlog/agents/connectonion";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
const session = await openConnectonion(path);
for (let number = 1; number <= Number(count); number += 1) {
  const input = `${name} ${number}`;
  await session.appendTurn(
    {
      input,
      result: "done",
      model: "co/test",
      duration_ms: 1,
      tokens: 1,
      cost: 0.0001,
      tools_called: [],
    },
    [{ role: "user", content: input }],
  );
}
