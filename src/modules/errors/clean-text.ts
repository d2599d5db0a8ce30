// Text that PostgreSQL can hold: NUL and lone surrogates become U+FFFD (contract §1, §9), in names as well as in values.

export function cleanText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}

/** A copy of a plain JSON value with every text cleaned. */
export function cleanJson<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(clean);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), clean(member)]));
}

/** The first `characters` of a text, none of them cut in half. */
export function firstCharacters(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return [...text.slice(0, characters * 2)].slice(0, characters).join('');
}
