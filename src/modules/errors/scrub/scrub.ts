// Removes what must not be stored from an event: values under names that say they are secret.

const SECRET_NAME = /^(?:password|passwd|secret|token|api_?key|access_token|authorization|cookie|set-cookie)$/i;
const FILTERED = '[Filtered]';

/** A copy of a plain JSON value without secrets. Synchronous, and the same for the same value. */
export function scrubEvent<T>(value: T): T {
  return scrub(value) as T;
}

function scrub(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(scrub);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAME.test(name) && member !== null ? FILTERED : scrub(member),
    ]),
  );
}
