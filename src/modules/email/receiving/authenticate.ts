// What can be told of who sent a mail: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489). It is told and hides nothing. Loaded by the
// thread that reads mail alone: the library is large.
import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';
import { type AuthSettings, authUnknown, type MailAuth, type MailOrigin } from './auth.ts';

const LOOKUP_MS = 2_000;
const ALL_MS = 8_000;
const LOOKUPS_MAX = 60;

/** Never fails: what cannot be found out in 8 s is `temperror`. */
export async function checkMail(
  source: Buffer,
  { ip, helo, envelopeFrom }: MailOrigin,
  settings: AuthSettings,
): Promise<MailAuth> {
  const checked = authenticate(source, {
    ...(ip === null ? {} : { ip }),
    ...(helo === null ? {} : { helo }),
    ...{ sender: envelopeFrom, mta: 'localhost', disableArc: true, disableBimi: true },
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
    return { spf: 'permerror', dkim: 'permerror', dmarc: 'permerror' };
  } finally {
    clearTimeout(timer);
    checked.catch(() => undefined);
  }
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
