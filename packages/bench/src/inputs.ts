/** The generated sessions that cases share, so that each is made and kept once. */
import type { InputSpec, Scale } from "./bench-case.ts";

const seed = 7;

/** Turns of an agent, 1 GB; quick: 20 MB. */
export function largeSession(scale: Scale): InputSpec {
  return { mix: "message-heavy", bytes: scale === "full" ? 1_000_000_000 : 20_000_000, seed };
}

/** Turns of an agent, 100 MB; quick: 5 MB. */
export function middleSession(scale: Scale): InputSpec {
  return { mix: "message-heavy", bytes: scale === "full" ? 100_000_000 : 5_000_000, seed };
}

/** Turns of an agent, 2 MB. */
export function smallSession(): InputSpec {
  return { mix: "message-heavy", bytes: 2_000_000, seed };
}

/** Mostly snapshots of extensions, 250,000 of them and more; quick: 5,000. */
export function customSession(scale: Scale): InputSpec {
  return { mix: "custom-heavy", entries: scale === "full" ? 360_000 : 8_000, seed };
}

/** 2,000 sessions of 437 kB each; quick: 20 of 50 kB. */
export function sessionDirectory(scale: Scale): InputSpec {
  if (scale === "full") return { mix: "message-heavy", bytes: 437_000, files: 2_000, seed };
  return { mix: "message-heavy", bytes: 50_000, files: 20, seed };
}

/** 20,000 short messages in a row; quick: 2,000. */
export function longContext(scale: Scale): InputSpec {
  return { shape: "chain", entries: scale === "full" ? 20_000 : 2_000, seed };
}
