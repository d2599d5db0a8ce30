// Limits and constants of error tracking (specification, "Limits"; contract of errors).
export const TITLE_CHARACTERS = 120;
/** A title that is sent is kept up to this length. */
export const SENT_TITLE_CHARACTERS_MAX = 1_000;
/** Of a stack that came without an exception. */
export const NO_EXCEPTION_TYPE = 'Message';
export const FRAMES_MAX = 250;
export const CONTEXT_LINES_MAX = 5;
export const TAGS_MAX = 100;
export const BREADCRUMBS_MAX = 100;
export const NAME_CHARACTERS_MAX = 200;
/** User ids and releases are keys of facets. */
export const LABEL_CHARACTERS_MAX = 256;
export const TAG_NAMES_COUNTED_MAX = 100;
export const TAG_VALUES_COUNTED_MAX = 100;
export const TOP_VALUES = 100;
export const COMMENT_CHARACTERS_MAX = 10_000;
/** Also of 10,000 characters that are all written as two escapes. */
export const COMMENT_BODY_BYTES_MAX = 128 * 1024;
/** One event as it is sent. */
export const EVENT_BODY_BYTES_MAX = 1024 * 1024;
/** Lists show this much of a message, errors.get all of it. */
export const LISTED_MESSAGE_CHARACTERS = 10_000;
export const RETENTION_DAYS = 90;
/** Totals that no counter gives are counted up to here. */
export const COUNTED_MAX = 10_000;

export const levels = ['debug', 'info', 'warning', 'error', 'fatal'] as const;
export type Level = (typeof levels)[number];
export const environments = ['production', 'staging', 'development'] as const;
export type Environment = (typeof environments)[number];
export const breadcrumbLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const;
