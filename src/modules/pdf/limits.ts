// Numbers of the pdf module.
export const CONTENT_BYTES_MAX = 2 * 1024 * 1024;
/** JSON may write a character in six. */
export const CREATE_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Of what a call reads, all sources together. */
export const FILE_BYTES_MAX = 20 * 1024 * 1024;
/** As base64, with what stands around it. */
export const FILE_BODY_BYTES_MAX = 28 * 1024 * 1024;
export const PAGES_MAX = 500;
export const SOURCES_MAX = 50;
/** The least that a call is charged for. */
export const PAGES_CHARGED_MIN = 5;
export const WORK_MS_MAX = 30_000;
/** Of a thread: what it needs for 500 pages, and not much more. */
export const HEAP_MB = 512;
export const OUTSIDE_HEAP_MB = 384;
/** Calls that wait for a thread. */
export const WAITING = { max: 100, perOwnerMax: 20 };
/** What a document may have fetched for it. */
export const FETCHES_MAX = 100;
export const FETCHED_BYTES_MAX = 20 * 1024 * 1024;
export const LINE_CHARACTERS_MAX = 300;
export const THREADS = 2;
