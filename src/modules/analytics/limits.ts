// Limits and constants of analytics (contract of analytics).
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/time.ts';

export const CAPTURE = 'analytics.capture';

const KIB = 1024;
const MIB = 1024 * KIB;

// A call.
export const BATCH_EVENTS_MAX = 1_000;
/** Of PostHog's clients, which choose their batches themselves. */
export const FOREIGN_EVENTS_MAX = 10_000;
export const BODY_BYTES_MAX = 8 * MIB;

// An event.
export const NAME_CHARACTERS_MAX = 200;
export const DISTINCT_ID_CHARACTERS_MAX = 200;
export const PROPERTIES_MAX = 500;
/** JSON of its properties. */
export const PROPERTIES_BYTES_MAX = 64 * KIB;
export const NESTING_MAX = 16;
export const AGE_MS_MAX = 365 * DAY_MS;
export const AHEAD_MS_MAX = 10 * MINUTE_MS;
export const SEEN_DAYS = 7;

// A person.
export const PERSON_IDS_MAX = 1_000;
export const PERSON_BYTES_MAX = 16 * KIB;
/** Of $set and $set_once of a call: they are read in its commit. */
export const PEOPLE_BYTES_MAX = 512 * KIB;

// Blocks.
export const SPAN_MS = DAY_MS;
export const BLOCK_RECORDS_MAX = 50_000;
/** Further properties of a block stand together in one column. */
export const PROPERTY_COLUMNS_MAX = 200;
export const COLUMN_NAME_CHARACTERS_MAX = 150;
/** A property that fewer events of a block have gets no column of its own. */
export const COLUMN_EVENTS_MIN = 4;
export const KEEP_DAYS = { standard: 365, max: 365 } as const;

// A question.
export const QUERY_EVENTS_MAX = 10_000_000;
export const QUERY_MS_MAX = 10_000;
export const BUCKETS_MAX = 1_000;
export const SERIES_EVENTS_MAX = 10;
export const FILTERS_MAX = 10;
/** Of all steps of a funnel: each is looked at for each event. */
export const FUNNEL_FILTERS_MAX = 20;
export const BREAKDOWN_VALUES_SHOWN = 20;
/** Different values that are told apart while counting. */
export const BREAKDOWN_VALUES_MAX = 10_000;
export const STEPS_MAX = 10;
export const PERIODS_MAX = 31;
export const WINDOW_SECONDS_MAX = 90 * 86_400;
export const HOUR = HOUR_MS;
