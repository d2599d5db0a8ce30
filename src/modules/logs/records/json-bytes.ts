// How many bytes a text takes as JSON, with its quotes: what records are weighed by.

const PLAIN = /^[ !#-[\]-~]*$/;

export function jsonBytes(text: string): number {
  return PLAIN.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}
