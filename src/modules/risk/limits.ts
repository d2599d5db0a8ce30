// Limits and names of the risk module (contract, part "Risk").
export const KEEP_DAYS = 30;
export const KEEP_SECONDS = KEEP_DAYS * 86_400;
/** Decisions that a key's timeline shows, and keys of a kind that it is linked with. */
export const RECENT_DECISIONS = 50;
export const LINKED_KEYS = 100;

/** Lengths of prefixes that networks of an account's lists may have: a call asks for one of each. */
export const NETWORK_LENGTHS_MAX = 16;
export const LABEL_CHARACTERS_MAX = 256;

// All rules of an account run within a commit that 128 calls may share: the dearest set must stay below 80 µs a call.
export const RULES_MAX = 50;
/** Of all rules together. */
export const RULE_NODES_MAX = 500;
export const RULE_TEXT_CHARACTERS_MAX = 64;

export const events = ['signup', 'login', 'payment', 'message', 'custom'] as const;
export const actions = ['allow', 'review', 'block'] as const;
export type Action = (typeof actions)[number];
export const listNames = ['allow', 'block'] as const;
export type ListName = (typeof listNames)[number];
