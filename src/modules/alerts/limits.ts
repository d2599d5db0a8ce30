// Limits and constants of the alerts module.

/** The background work that looks at rules, and those that tell addresses and queues. */
export const LOOKS = 'alerts.looks';
export const POSTS = 'alerts.posts';
export const NOTICES = 'alerts.notices';

export const FOR_SECONDS_MAX = 86_400;
export const EVERY_SECONDS = { min: 30, max: 3_600, usual: 60 };
export const REPEAT_SECONDS = { min: 60, max: 7 * 86_400 };
export const NOTIFY_MAX = 5;
export const BY_MAX = 8;
export const LABELS_MAX = 16;
export const LABEL_CHARACTERS_MAX = 256;
export const TITLE_CHARACTERS_MAX = 256;
export const DETAILS_CHARACTERS_MAX = 2_000;
export const URL_CHARACTERS_MAX = 2_048;
/** A rule: an expression, labels and addresses. */
export const RULE_BYTES_MAX = 64 * 1024;

/** A rule file of Prometheus. */
export const FILE_BYTES_MAX = 1024 * 1024;
/** Shorter ones are read where they arrive. */
export const FILE_HERE_BYTES_MAX = 1_024;
export const IMPORT_RULES_MAX = 1_000;

/** Series of a rule that have a state; of more only the number is told. */
export const SERIES_MAX = 100;
/** Of a label that a series has: the rest is cut off. */
export const VALUE_CHARACTERS_MAX = 256;
export const SERIES_LABELS_MAX = 32;
/** Series that one notice names. */
export const TOLD_SERIES_MAX = 20;

/** Of an account: looks, one after the other, may take so long of each minute. */
export const LOOK_MS_A_MINUTE = 1_000;
/** Steps from one look to the next, at most. */
export const SPREAD_MAX = 120;
/** What the looks of an account take is reckoned so often by a process. */
export const RECKON_EVERY_MS = 30_000;
/** Looks at once on one process. */
export const LOOKS_AT_ONCE = 16;
export const LOOK_LEASE_MS = 60_000;
export const LOOK_RENEW_MS = 20_000;
/** One look; sources have shorter bounds of their own. */
export const LOOK_MS_MAX = 30_000;
/** Looks that fail for want of room, before the rule is unknown. */
export const FAILURES_MAX = 3;

export const POSTS_AT_ONCE = 32;
export const POST_LEASE_MS = 30_000;
/** Notices of an account that wait for their receivers. */
export const WAITING_MAX = 10_000;
/** Of an account. */
export const MAILS_AN_HOUR = 100;

export const KEEP_DAYS = 30;
/** Changes of one rule that are kept. */
export const CHANGES_MAX = 1_000;
export const SILENCES_MAX = 100;
export const SILENCE_DAYS_MAX = 90;

/** What a rule would have done is told of so long. */
export const TRY_MS = 24 * 3_600_000;
export const TRY_STEPS_MAX = 289;
export const TRY_CHANGES_MAX = 200;
