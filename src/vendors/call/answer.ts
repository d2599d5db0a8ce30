// Readers of untrusted JSON: a value that is missing, or of another type, is null.

export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with fields; null for everything else, arrays included. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** What stands at a path such as `output.videos.0.url`; undefined when nothing does. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Fields)[name];
  }
  return found;
}

/** A text that is not empty, of at most `charactersMax`. */
export function textAt(value: unknown, path: string, charactersMax = 2048): string | null {
  const found = at(value, path);
  return typeof found === 'string' && found !== '' && found.length <= charactersMax ? found : null;
}

/** The first of the paths at which a text stands. */
export function firstTextAt(value: unknown, paths: readonly string[], charactersMax?: number): string | null {
  for (const path of paths) {
    const found = textAt(value, path, charactersMax);
    if (found !== null) return found;
  }
  return null;
}

/** A finite number; also one that is sent as a text, as durations often are. */
export function numberAt(value: unknown, path: string): number | null {
  const found = at(value, path);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** JSON of a stranger; null when it is none. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return null;
  }
}
