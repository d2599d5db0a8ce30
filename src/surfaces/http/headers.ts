// Headers of every answer, and request headers that may occur only once.
/** On every answer; pages have a policy of their own. */
export const everywhere = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export const JSON_TYPE = 'application/json; charset=utf-8';

// Of two headers of a name, each program on the way could believe another one; Node hands on the first of them.

/** Which of `rawHeaders` (name, value, name, value, …) stands there twice, of Host (RFC 9112 §3.2) and Authorization; null: none. */
export function doubledHeader(rawHeaders: readonly string[]): string | null {
  let hosts = 0;
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    // Few names are as long, so that most are told apart by a number.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (hosts > 1) return 'Host';
  return authorizations > 1 ? 'Authorization' : null;
}
