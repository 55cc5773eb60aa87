/** A holder that loses its lock before it writes: it starts over, and writes nothing on an old plan. */
import { expect, it } from "vitest";
import { encodeDraft } from "../../../packages/core/src/entries/encode-entry.ts";
import { appendItem } from "../../../packages/core/src/session/append-entries.ts";
import { Engine } from "../../../packages/core/src/session/engine.ts";
import { LeafCursor } from "../../../packages/core/src/session/leaf-cursor.ts";
import { CountedWorld, header, path, say } from "../../support/counted-world.ts";

it("an append whose lock was taken over before the write conflicts without a byte written (Verifies: P2)", () => {
  const world = new CountedWorld();
  world.fs.writeFileSync(path, Buffer.from(`${JSON.stringify(header)}\n`));
  const engine = Engine.openSync(path, { ports: world.ports() });
  const item = appendItem(encodeDraft(say("ours"), header.timestamp), undefined, "ours");
  const request = { items: [item], onDiverged: "branch", expectedTail: null } as const;
  const steps = engine.append(request, new LeafCursor(true, engine.tailId));

  let looks = 0;
  const run = (): void => {
    for (let next = steps.next(); next.done !== true; next = steps.next()) {
      if (next.value.kind !== "port" || next.value.call !== "check lock") continue;
      looks += 1;
      if (looks === 1) takeOverAndAppend(world);
    }
  };

  expect(run).toThrow(expect.objectContaining({ code: "ERR_CONFLICT", landed: [], tail: "peer" }));
  expect(world.lines).toHaveLength(2);
  expect(world.lock.tryAcquireSync(path)).not.toBeNull();
});

/** What another process does while the holder is stopped for longer than a lock lives. */
function takeOverAndAppend(world: CountedWorld): void {
  world.lock.inner.breakLock(path);
  const held = world.lock.inner.tryAcquireSync(path);
  const line = '{"type":"custom","customType":"peer","id":"peer","parentId":null}\n';
  const fd = world.fs.openSync(path, "append");
  world.fs.writeSync(fd, Buffer.from(line), 0, line.length);
  world.fs.closeSync(fd);
  held?.releaseSync();
}
