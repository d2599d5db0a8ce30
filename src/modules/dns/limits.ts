// Limits and constants of the dns module.

/** Values, of all records of a zone. */
export const RECORDS_MAX = 10_000;
/** Values of one name and type; and their bytes in an answer, which has 64 KiB at most. */
export const VALUES_MAX = 500;
export const SET_BYTES_MAX = 32 * 1024;
export const TXT_BYTES_MAX = 4_096;
export const TTL_USUAL = 300;
export const TTL_MIN = 1;
export const TTL_MAX = 604_800;
export const ZONE_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Changes of one PATCH of PowerDNS' dialect. */
export const CHANGES_MAX = 500;

/** Of the SOA record (RFC 1912, section 2.2); its minimum is how long a negative answer is kept (RFC 2308). */
export const SOA = { refresh: 3_600, retry: 600, expire: 1_209_600, minimum: 300, ttl: 3_600 } as const;
/** Of the NS records that this service adds. */
export const NS_TTL = 3_600;

/** A zone that has not been delegated to this service for so long may be added by another account. */
export const RELEASE_MS = 7 * 24 * 3_600_000;
/** How often the delegation of a zone is looked at. */
export const DELEGATION_EVERY_MS = 24 * 3_600_000;
/** How long a zone that is nobody's any more is told to the name servers of other processes. */
export const GONE_KEPT_MS = 3_600_000;

/** One name server has this long, TCP included. */
export const ASK_MS = 2_000;
/** Answers of one look-up that are shown. */
export const ANSWERS_MAX = 100;
/** A look-up takes so many of the account's free reads: 10, 100 and 1,000 look-ups a second by tier. */
export const LOOKUP_TOKENS = 10;
/** Questions that are open at once in a process; more wait, in turns by account. */
export const LOOKUPS_AT_ONCE = 64;
/** Calls to name servers of others that go on at once in a process; and how long one may take, shorter than the claim of an idempotency key. */
export const HOSTS_AT_ONCE = 16;
export const HOST_CALL_MS = 45_000;
