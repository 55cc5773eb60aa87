/** Runs the same conversation with both programs and compares what was said and what is left. */
import { expect } from "vitest";
import { differences } from "./difference.ts";
import { NormalForm } from "./normal-form.ts";
import type { PiProgram } from "./pi-program.ts";
import { PiServer } from "./pi-run.ts";
import { sandbox, sessionFiles } from "./sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** A conversation with a pi, and the arguments to start it with. */
export interface Conversation {
  /** Fills the sandbox before pi starts; the arguments for pi. */
  prepare(place: Sandbox): Promise<readonly string[]> | readonly string[];
  talk(server: PiServer, place: Sandbox): Promise<void>;
}

/** Asks for all that a client may see of the session. */
export async function look(server: PiServer): Promise<void> {
  for (const type of ["get_state", "get_messages", "get_entries", "get_tree"]) {
    await server.ask({ type });
  }
}

/** What is left of a conversation, in normal form. */
export interface Outcome {
  readonly transcript: readonly unknown[];
  readonly files: Readonly<Record<string, unknown>>;
}

/** Arguments for a short prompt: pi's own is long and names the folder that pi is in. */
export const terse: readonly string[] = ["--system-prompt", "You are terse.", "--tools", "bash"];

// Output of a running command, cut where it happened to arrive.
const timedEvents = new Set(["bash_execution_update", "tool_execution_update"]);

/** Has a conversation in a fresh sandbox. */
async function outcomeOf(pi: PiProgram, conversation: Conversation): Promise<Outcome> {
  const place = sandbox();
  const args = await conversation.prepare(place);
  const inputs = [...sessionFiles(place.root).values()];
  const server = PiServer.start(pi, place, [...terse, ...args]);
  await conversation.talk(server, place);
  await server.end();
  const form = new NormalForm(place, inputs);
  const transcript = server.transcript
    .filter(({ type }) => !timedEvents.has(type))
    .map((record) => form.of(record));
  return { transcript, files: form.files() };
}

/** Expects the same of both programs. */
export async function expectSameOutcome(
  pis: { readonly original: PiProgram; readonly replaced: PiProgram },
  conversation: Conversation,
): Promise<void> {
  const published = await outcomeOf(pis.original, conversation);
  const ours = await outcomeOf(pis.replaced, conversation);
  expect(published.transcript.length).toBeGreaterThan(0);
  expect(differences(published, ours)).toEqual([]);
}
