/** The first context after opening a large session. */
import { openSession } from "@branchlog/core";
import { type BenchCase, defineCase, type Subject } from "../bench-case.ts";
import { largeSession } from "../inputs.ts";
import {
  checkContext,
  onNode24,
  openPeer,
  ourContext,
  peerContext,
  peerSubjects,
  type WantedMessages,
} from "../session-peers.ts";

/** Messages found, beside those that this reader should find. */
interface FoundMessages {
  readonly messages: number;
  readonly wanted: WantedMessages;
}

const ours: Subject<FoundMessages> = {
  name: "session.context()",
  role: "ours",
  prepare: async ({ path, facts }) => {
    const session = await openSession(path, { access: "read", checkpoint: "off" });
    return async () => {
      const { messages } = await session.context();
      return { messages: messages.length, wanted: ourContext(facts) };
    };
  },
};

/** See the file comment. */
export const benchCase: BenchCase = defineCase<FoundMessages>({
  name: "first-context",
  question: "How long does the first context take after opening 1 GB?",
  goal: "20 times faster than the fastest peer.",
  nodeFlags: ["--max-old-space-size=256"],
  input: largeSession,
  subjects: [
    ours,
    onNode24(ours),
    ...peerSubjects("buildSessionContext()", async (peer, input) => {
      const manager = await openPeer(peer, input);
      return () => ({
        messages: manager.buildSessionContext().messages.length,
        wanted: peerContext(peer, input.facts),
      });
    }),
  ],
  check: ({ messages, wanted }) => {
    checkContext(messages, wanted);
  },
  figures: ({ messages }, wallMs) => ({ "µs/message": (wallMs * 1000) / messages }),
});
