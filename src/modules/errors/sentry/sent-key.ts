// Key of an SDK: in the query, in X-Sentry-Auth, in Authorization, or in the DSN that an envelope names. An API key consists of word characters,
// so it is the public key of a DSN as it is.
import type { RawHead } from '../../../kit/raw-route.ts';

const SCHEME = /^sentry\s/i;
const BEARER = /^bearer\s+(\S+)\s*$/i;
/** No such header of an SDK is longer. */
const HEADER_CHARACTERS_MAX = 2_000;

/** The key that the head of a request names; null when it names none. */
export function keyOfHead({ query, headers }: RawHead): string | null {
  return query.get('sentry_key') || keyOfHeader(headers['x-sentry-auth']) || keyOfHeader(headers.authorization);
}

/** The public key of a DSN; null when it is none. */
export function keyOfDsn(dsn: unknown): string | null {
  if (typeof dsn !== 'string' || !URL.canParse(dsn)) return null;
  return new URL(dsn).username || null;
}

/** `Sentry sentry_version=7, sentry_key=…, sentry_client=…` */
function keyOfHeader(sent: string | string[] | undefined): string | null {
  const header = Array.isArray(sent) ? sent[0] : sent;
  if (header === undefined || header.length > HEADER_CHARACTERS_MAX) return null;
  const bearer = BEARER.exec(header)?.[1];
  if (bearer !== undefined) return bearer;
  if (!SCHEME.test(header)) return null;
  const pairs = header.slice('Sentry '.length).split(/[,\s]/);
  const pair = pairs.map((each) => each.trim()).find((each) => each.startsWith('sentry_key='));
  return pair?.slice('sentry_key='.length).replaceAll('"', '') || null;
}
