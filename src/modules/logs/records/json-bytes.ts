// Size of a text as JSON in bytes, quotes included: the measure that records are charged by.

const PLAIN = /^[ !#-[\]-~]*$/;

export function jsonBytes(text: string): number {
  return PLAIN.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}
