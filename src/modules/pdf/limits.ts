// Limits of the pdf module.
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
export const LINE_CHARACTERS_MAX = 300;
export const THREADS = 2;
