// Numbers of the risk module (contract, part "Risk").
export const KEEP_DAYS = 30;
/** Decisions that a key's timeline shows, and keys of a kind that it is linked with. */
export const RECENT_DECISIONS = 50;
export const LINKED_KEYS = 100;
/** Rules are tried against so many of the latest decisions. */
export const TRIED_DECISIONS = 1_000;

/** Lengths of prefixes that networks of an account's lists may have: a call asks for one of each. */
export const NETWORK_LENGTHS_MAX = 16;

export const LABEL_CHARACTERS_MAX = 256;
export const CONTEXT_MEMBERS_MAX = 32;
export const AMOUNT_USD_MAX = 1_000_000_000;

// All rules of an account run within a commit that 128 calls may share: the dearest set must stay below 80 µs a call.
export const RULES_MAX = 50;
export const RULE_NODES_MAX = 100;
export const ALL_NODES_MAX = 500;
export const RULE_TEXT_CHARACTERS_MAX = 64;
export const RULE_DEPTH_MAX = 8;
export const RULES_BODY_BYTES_MAX = 64 * 1024;
export const POINTS_MAX = 100;

export const eventKinds = ['signup', 'login', 'payment', 'message', 'custom'] as const;
export const actions = ['allow', 'review', 'block'] as const;
export type Action = (typeof actions)[number];
