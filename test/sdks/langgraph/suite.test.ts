/** The suite that LangGraph has for savers, over files and over a store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { BranchlogSaver } from "@branchlog/sdks/langgraph";
import { MemoryLogStore } from "../../support/memory-log-store.ts";

// It takes them from there, also while its tests run.
const globals = { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it };
Object.assign(globalThis, globals);
afterAll(() => {
  for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name);
});

const root = mkdtempSync(join(tmpdir(), "branchlog-test-"));

validate({
  checkpointerName: "a saver in a directory",
  createCheckpointer: () => new BranchlogSaver(mkdtempSync(join(root, "threads-"))),
  destroyCheckpointer: (saver) => saver.end(),
  afterAll: () => rmSync(root, { recursive: true, force: true }),
});

validate({
  checkpointerName: "a saver in a store",
  createCheckpointer: () => new BranchlogSaver({ store: new MemoryLogStore() }),
});
