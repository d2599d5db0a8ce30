// Numbers of the flags module.

const KIB = 1024;

export const DEFINITION_BYTES_MAX = 64 * KIB;
/** A definition and what stands beside it in a call. */
export const BODY_BYTES_MAX = DEFINITION_BYTES_MAX + 16 * KIB;
/** All flags of an account: a process holds what it serves in memory. */
export const ACCOUNT_BYTES_MAX = 32 * KIB * KIB;
export const VARIANTS_MAX = 100;
export const METADATA_MEMBERS_MAX = 50;
export const IMPORT_BYTES_MAX = 4 * KIB * KIB;
export const IMPORT_FLAGS_MAX = 5_000;
export const EVALUATORS_MAX = 1_000;
/** Keys that one call names. */
export const KEYS_MAX = 100;

/** One more token of the rate pays for so many steps of rules, flags of many, and bytes of definitions that are read. */
export const TOKEN = { steps: 2_000, flags: 10, bytes: 16 * KIB } as const;

/** Changes of an account that its history keeps, and flags that they show as they were then. */
export const CHANGES_KEPT = 10_000;
export const SHOWN_BYTES_MAX = 8 * KIB;
/** Definitions whose rollout a list tells. */
export const LISTED_BYTES_MAX = 4 * KIB;

/** Flags that are read from the database at once. */
export const READ_AT_ONCE = 100;
/** Definitions that a process holds, in bytes as they are stored; objects take some three times as much. */
export const HELD_BYTES_MAX = 64 * KIB * KIB;
export const ACCOUNTS_HELD_MAX = 5_000;
/** Other processes see a change after at most this and the time of a read. */
export const LOOK_EVERY_MS = 300;
/** Flags that nobody asked for so long are given back. */
export const IDLE_MS = 60_000;

/** Event streams of an account, in all processes behind one port; and of all accounts in one process. */
export const STREAMS_OF_ACCOUNT_MAX = 200;
export const STREAMS_MAX = 2_000;
