// Finds a text in another in linear time (Knuth, Morris, Pratt 1977). String.indexOf took 0.8 ms for a pattern of 501 characters in a path
// of 8,192 that are made for it, and a rule has 50 patterns.

/** The first place of `wanted` at or behind `from`; -1: none. At most 2 comparisons for each character of both. */
export function findText(text: string, wanted: string, from: number): number {
  if (wanted === '') return from;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    matched = extend(wanted, borders, matched, text.charCodeAt(at));
    if (matched === wanted.length) return at + 1 - matched;
  }
  return -1;
}

/** Of each length of a beginning, the longest shorter beginning that it also ends with. */
function bordersOf(wanted: string): readonly number[] {
  const borders = [0, 0];
  for (let length = 2; length <= wanted.length; length++) {
    borders.push(extend(wanted, borders, borders[length - 1] ?? 0, wanted.charCodeAt(length - 1)));
  }
  return borders;
}

function extend(wanted: string, borders: readonly number[], matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && wanted.charCodeAt(length) !== unit) length = borders[length] ?? 0;
  return wanted.charCodeAt(length) === unit ? length + 1 : length;
}
