// Sender authentication of a mail: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489). The result is shown and hides no mail. Only the thread
// that reads mail loads this file: the library is large.
import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';
import { type AuthSettings, authUnknown, type MailAuth, type MailOrigin } from './auth.ts';

const CARRIAGE_RETURN = 0x0d;
const LOOKUP_MS = 2_000;
const ALL_MS = 8_000;
const LOOKUPS_MAX = 60;
const HEADER_BYTES_MAX = 256 * 1024;
/** mailauth 7.1 takes time and memory in the square of them: 65,000 in 256 KiB took 15 s, 16,000 0.2 s. */
const HEADER_LINES_MAX = 10_000;

/** Never fails: what cannot be found out in 8 s is `temperror`, and a header beyond bounds `permerror`. */
export async function checkMail(
  source: Buffer,
  { ip, helo, envelopeFrom }: MailOrigin,
  settings: AuthSettings,
): Promise<MailAuth> {
  if (!isHeaderWithinBounds(source)) return unreadable;
  const checked = authenticate(source, {
    ...(ip === null ? {} : { ip }),
    ...(helo === null ? {} : { helo }),
    sender: envelopeFrom,
    mta: 'localhost',
    disableArc: true,
    disableBimi: true,
    resolver: resolverOf(settings),
  });
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ALL_MS);
  try {
    const found = await Promise.race([checked, late.promise]);
    if (found === null) return authUnknown;
    const spf = found.spf === false ? undefined : found.spf?.status?.result;
    const dmarc = found.dmarc === false ? undefined : found.dmarc?.status?.result;
    return { spf: word(spf), dkim: dkimOf(found.dkim?.results ?? []), dmarc: word(dmarc) };
  } catch {
    // What the library cannot read: the mail is kept all the same.
    return unreadable;
  } finally {
    clearTimeout(timer);
    checked.catch(() => undefined);
  }
}

const unreadable: MailAuth = { spf: 'permerror', dkim: 'permerror', dmarc: 'permerror' };

function isHeaderWithinBounds(source: Buffer): boolean {
  let start = 0;
  for (let lines = 0; lines <= HEADER_LINES_MAX; lines += 1) {
    const at = source.indexOf('\n', start);
    const end = at === -1 ? source.length : at;
    if (end > HEADER_BYTES_MAX) return false;
    const isBlank = end === start || (end === start + 1 && source[start] === CARRIAGE_RETURN);
    if (isBlank || at === -1) return true;
    start = end + 1;
  }
  return false;
}

interface Signature {
  readonly status?: { readonly result?: string; readonly aligned?: unknown };
}

/** Of several signatures the best: one that holds, and stands for the domain of From, before others. */
function dkimOf(results: readonly Signature[]): string {
  const words = results.map(({ status }) => word(status?.result));
  return ['pass', 'temperror', 'fail', 'policy', 'neutral', 'permerror'].find((each) => words.includes(each)) ?? 'none';
}

function word(result: unknown): string {
  return typeof result === 'string' && /^[a-z]{2,20}$/.test(result) ? result : 'none';
}

function resolverOf({ dnsServers }: AuthSettings) {
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: 1 });
  if (dnsServers !== null) resolver.setServers(dnsServers);
  let lookups = 0;
  return async (name: string, type: string): Promise<string[][] | string[]> => {
    lookups += 1;
    if (lookups > LOOKUPS_MAX) throw Object.assign(new Error('too many look-ups'), { code: 'ETIMEOUT' });
    return (await resolver.resolve(name, type)) as unknown as string[][] | string[];
  };
}
