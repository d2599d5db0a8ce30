// Limits of the metrics module (contract of metrics).
import { MINUTE_MS } from '../../lib/time.ts';

export const INGEST = 'metrics.ingest';
export const POINTS_MAX = 1_000;
/** Of one remote write or OTLP request. */
export const SAMPLES_MAX = 10_000;
export const LABELS_MAX = 32;
export const NAME_CHARACTERS_MAX = 200;
export const LABEL_CHARACTERS_MAX = 100;
export const VALUE_CHARACTERS_MAX = 1_024;
export const HELP_CHARACTERS_MAX = 1_000;
/** Of a request, what is refused is named up to here. */
export const NAMED_REFUSALS_MAX = 20;
/** How far a time may be ahead of the service's. */
export const AHEAD_MS = 10 * MINUTE_MS;

/** Of a dashboard's panel. */
export const TITLE_CHARACTERS_MAX = 100;
export const UNIT_CHARACTERS_MAX = 20;

export const STEPS_MAX = 11_000;
export const QUERY_CHARACTERS_MAX = 8_192;
export const QUERY_MS = 10_000;
export const SELECTED_SAMPLES_MAX = 3_000_000;
export const ANSWER_SERIES_MAX = 1_000;
export const ANSWER_POINTS_MAX = 500_000;
/** Of blocks that a query reads, as they are stored. */
export const QUERY_BYTES_MAX = 24 * 1024 * 1024;
/** Of lists of series, labels and values. */
export const LISTED_MAX = 10_000;

export const types = ['counter', 'gauge', 'histogram', 'summary', 'unknown'] as const;
export type MetricType = (typeof types)[number];

/** Live series: those with a sample stored since the last full hour (UTC). */
export const seriesLimit = { standard: 10_000, pro: 100_000, enterprise: 1_000_000 } as const;
