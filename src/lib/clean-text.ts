// Replaces characters of event texts that PostgreSQL cannot store: NUL and lone surrogates become U+FFFD (contract §1), in names and in values.

export function cleanText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}

/** A plain JSON value with every text cleaned; what needs no cleaning is shared with it. */
export function cleanJson<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? cleanList(value) : cleanMembers(value as Readonly<Record<string, unknown>>);
}

function cleanList(list: readonly unknown[]): readonly unknown[] {
  const cleaned = list.map(clean);
  return cleaned.some((entry, i) => entry !== list[i]) ? cleaned : list;
}

function cleanMembers(members: Readonly<Record<string, unknown>>): object {
  const names = Object.keys(members);
  const cleanNames = names.map(cleanText);
  const values = names.map((name) => clean(members[name]));
  const changed = names.some((name, i) => cleanNames[i] !== name || values[i] !== members[name]);
  return changed ? Object.fromEntries(cleanNames.map((name, i) => [name, values[i]])) : members;
}

/** The first `characters` of a text, none of them cut in half. */
export function firstCharacters(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return [...text.slice(0, characters * 2)].slice(0, characters).join('');
}
