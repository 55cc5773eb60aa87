/** Every maximum of the core, with its unit in the name and the reason for its value. */

/**
 * Bodies kept in memory: enough for a working context, small compared with the heap of an agent.
 */
export const bodyCacheBytesMaxDefault: number = 64 * 1024 * 1024;

/**
 * How long an append waits for the lock without progress: longer than a stale lock lives (10 s), so
 * a crash heals.
 */
export const lockWaitMsDefault: number = 15_000;

/** Its longest wait as a multiple of that, with progress: a thousand processes get their turn. */
export const lockWaitTotalFactor: number = 8;

/** A lock untouched for so long is taken over. Equal in every process that shares a log. */
export const lockStaleMs: number = 10_000;

/** How often a held lock is touched. Equal in every process that shares a log. */
export const lockUpdateMs: number = 5_000;

/**
 * How late a waiter may check, against its own announcement, before those after it go first: far
 * more than a busy machine delays a timer.
 */
export const ticketGraceMs: number = 1_000;

/** How late it may be before its ticket is removed, if it is unknown whether it has ended. */
export const ticketStaleMs: number = 10_000;

/** Longest pause of a process that waits for a lock that has been held for a long time. */
export const lockPauseMsMax: number = 5_000;

/** Longest pause of the first in the queue, or without a place; and near it while it advances. */
export const nearPauseMsMax: number = 250;

/** Longest pause for each waiter in front: many waiters must leave the processor to the holder. */
export const lockPausePlaceMsMax: number = 20;

/** Bytes of one batch: one write of this size takes milliseconds, so others wait no longer. */
export const batchBytesMaxDefault: number = 8 * 1024 * 1024;

/** How often an append whose bytes were displaced or torn by a peer is written again. */
export const appendAttemptsMax: number = 3;

/** How often a plan for a log in a store is made again because others stored first. */
export const commitConflictsMax: number = 64;

/** Descriptors held open per process: far below the usual limit of 1,024. */
export const descriptorsMax: number = 64;

/** Bytes before the cursor that are remembered to notice a log rewritten in place. */
export const fingerprintBytes: number = 64;

/** Diagnostics of a kind kept one by one; more are only counted, so damage cannot fill memory. */
export const diagnosticsMax: number = 1_000;

/** Longest record that is built as one object: V8's string limit, less a margin. */
export const bodyBytesMax: number = 512 * 1024 * 1024 - 64 * 1024;

/** Lines at the start of a file that are searched for the agent that wrote it. */
export const headLinesMax: number = 2_000;

/** Bytes of these lines that are read: far above the records that transcripts begin with. */
export const headBytesMax: number = 16 * 1024 * 1024;

/** How long opening works before it yields to the event loop. */
export const yieldEveryMs: number = 8;

/**
 * How long a lock may be kept between blocking appends before it is asked whether others wait for
 * it, and how long a check of log and lock holds under it: others wait no longer than a pause.
 */
export const retentionMsMax: number = 5;

/**
 * How long a lock may be kept between blocking appends while nobody waits for it: taking it again
 * costs as much as ten appends.
 */
export const unawaitedRetentionMsMax: number = 50;

/** The blocking append from which on the lock may be kept: one or two gain nothing by it. */
export const retentionAfterAppends: number = 3;

/**
 * The same of groups of awaited appends. Their callers continue while the lock is held, and may
 * block: it is kept for those that append in bulk, not for the few entries of a turn.
 */
export const retentionAfterAwaited: number = 8;

/**
 * How long the lock may then be kept although others wait: to hand it over costs as much as fifty
 * appends, and a pause of the next.
 */
export const awaitedTurnMsMax: number = 20;

/** Longest pause between two of those groups: the event loop and other processes run. */
export const awaitedPauseMsMax: number = 50;

/** Longest time that a caller may spend between those appends, all pauses together. */
export const retentionPauseMsMax: number = 1;

/** Locks remembered as held by others; forgetting one costs a slower try. */
export const awaitedLocksMax: number = 1_000;

/** Bytes that wait in the queue of one session: far more than a disk writes in a second. */
export const queuedBytesMaxDefault: number = 256 * 1024 * 1024;

/** Entries that may wait for the sync of an interval: then it comes early, and is waited for. */
export const unsyncedEntriesMax: number = 65_536;

/** Longest time of a timer, in milliseconds: the system's, almost 25 days. */
export const timerMsMax: number = 2 ** 31 - 1;

/** How far a log goes past its checkpoint before another is saved: reading it again is fast. */
export const checkpointEveryBytesDefault: number = 8 * 1024 * 1024;

/** Of a log in a store; a longer one is read from a file that has no name. */
export const replicaMemoryBytesMax: number = 8 * 1024 * 1024;

/** What part of a log has to be read whole before that is saved: a checkpoint is written whole. */
export const checkpointReadShare: number = 1 / 8;

/** The same of what was appended to a log in a store since: a session that opens it reads that. */
export const storedGrowthShare: number = 1 / 32;

/** How long a session that closes waits for a store that takes its index, or does not answer. */
export const indexSaveMsMax: number = 30_000;

/** How long a session is idle before its checkpoint is saved. */
export const checkpointIdleMs: number = 1_000;

/** How long work may begin that is left for the exit of the process. */
export const exitWorkMsMax: number = 1_000;

/** How much of the time that is left at an exit may go to checksums: the index comes first. */
export const exitSumsShare: number = 0.5;

/** How long a session that closes takes checksums; it does so in batches. */
export const closingSumsMsMax: number = 1_000;
