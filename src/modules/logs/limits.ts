// Limits of the logs module.
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';

export const INGEST = 'logs.ingest';

/** Of a native call, and of one of another protocol. */
export const RECORDS_MAX = 1_000;
export const FOREIGN_RECORDS_MAX = 10_000;
export const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Of its JSON: what is longer is cut, and says so. */
export const RECORD_BYTES_MAX = 256 * 1024;
export const ATTRIBUTES_MAX = 128;
export const NAME_CHARACTERS_MAX = 256;
export const SERVICE_CHARACTERS_MAX = 256;
/** What is charged for: a KiB of the records' JSON. */
export const UNIT_BYTES = 1_024;

/** Records that say they are older, or so far ahead, are rejected. */
export const AGE_MS_MAX = 30 * DAY_MS;
export const AHEAD_MS_MAX = 10 * 60_000;
/** Blocks lie within one. */
export const SPAN_MS = HOUR_MS;
export const BLOCK_RECORDS_MAX = 10_000;

export const KEEP_DAYS = { standard: 14, max: 90 } as const;

/** A service that says nothing of itself, as OpenTelemetry calls it. */
export const UNKNOWN_SERVICE = 'unknown_service';
