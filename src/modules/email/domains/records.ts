// The DNS records that prove a domain and let mail come back: their required values, and what name servers return.
import type { Ask, Found } from './resolver.ts';
import type { SigningKey } from './signing-key.ts';

export type RecordPurpose = 'dkim' | 'spf' | 'mx' | 'dmarc' | 'inbound';
export type RecordStatus = 'ok' | 'missing' | 'mismatch';

/** As the wire shows it, and as it is stored. */
export interface DomainRecord {
  readonly purpose: RecordPurpose;
  readonly type: 'TXT' | 'MX';
  readonly name: string;
  readonly value: string;
  /** Without it the domain is not verified. */
  readonly required: boolean;
  readonly status: RecordStatus;
  /** What is there instead, or what was taken for good; null: nothing. */
  readonly found: string | null;
}

export interface Wanted {
  readonly domain: string;
  /** The registered domain above it, or itself. */
  readonly registered: string;
  readonly key: Pick<SigningKey, 'selector' | 'publicKey'>;
  /** EMAIL_BOUNCE_DOMAIN: where bounces go; null: they do not come back. */
  readonly bounceDomain: string | null;
  /** The service, as the MX of an inbox's domain names it. */
  readonly host: string;
}

export interface Look {
  readonly records: readonly DomainRecord[];
  /** Some question was not answered: what it asked for counts as missing. */
  readonly isUnanswered: boolean;
}

const FOUND_CHARACTERS_MAX = 1_000;
const MX_PREFERENCE = 10;

/** Looks all records up, at once. */
export async function lookUp(ask: Ask, wanted: Wanted): Promise<Look> {
  const { domain, registered, key, bounceDomain, host } = wanted;
  const dkimName = `${key.selector}._domainkey.${domain}`;
  const dmarcName = `_dmarc.${domain}`;
  const none = Promise.resolve([]);
  const [dkim, dmarc, above, inbound, spf, mx] = await Promise.all([
    ask.txt(dkimName),
    ask.txt(dmarcName),
    registered === domain ? none : ask.txt(`_dmarc.${registered}`),
    ask.mx(domain),
    bounceDomain === null ? none : ask.txt(bounceDomain),
    bounceDomain === null ? none : ask.mx(bounceDomain),
  ]);
  const dkimValue = `v=DKIM1; k=rsa; p=${key.publicKey}`;
  const records: DomainRecord[] = [
    { ...txt('dkim', dkimName, dkimValue, true), ...judge(dkim, (text) => isKey(text, key.publicKey)) },
    ...(bounceDomain === null
      ? []
      : [
          {
            ...txt('spf', bounceDomain, 'v=spf1 a mx ~all', true),
            ...judge(ofKind(spf, /^v=spf1(\s|$)/i), () => true),
          },
          { ...mxRecord('mx', bounceDomain, host, true), ...judge(hosts(mx), (found) => found !== '.') },
        ]),
    {
      ...txt('dmarc', dmarcName, 'v=DMARC1; p=none', false),
      ...judge(either(ofDmarc(dmarc), ofDmarc(above)), () => true),
    },
    { ...mxRecord('inbound', domain, host, false), ...judge(hosts(inbound), (found) => found === host) },
  ];
  return { records, isUnanswered: [dkim, dmarc, above, inbound, spf, mx].includes('unanswered') };
}

function txt(purpose: RecordPurpose, name: string, value: string, required: boolean) {
  return { purpose, type: 'TXT', name, value, required } as const;
}

function mxRecord(purpose: RecordPurpose, name: string, host: string, required: boolean) {
  return { purpose, type: 'MX', name, value: `${MX_PREFERENCE} ${host}`, required } as const;
}

function judge(answer: Found<string>, isRight: (found: string) => boolean): Pick<DomainRecord, 'status' | 'found'> {
  const [first] = answer === 'unanswered' ? [] : answer;
  if (answer === 'unanswered' || first === undefined) return { status: 'missing', found: null };
  const right = answer.find(isRight);
  return { status: right === undefined ? 'mismatch' : 'ok', found: (right ?? first).slice(0, FOUND_CHARACTERS_MAX) };
}

/** Whether the text is a key record of this very key (RFC 6376 section 3.6.1). */
function isKey(text: string, publicKey: string): boolean {
  const tags = tagsOf(text);
  const hashes = tags.get('h')?.split(':') ?? ['sha256'];
  const services = tags.get('s')?.split(':') ?? ['*'];
  return (
    tags.get('p') === publicKey &&
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === 'rsa' &&
    hashes.includes('sha256') &&
    (services.includes('*') || services.includes('email'))
  );
}

/** `name=value` parts, without white space. */
function tagsOf(text: string): ReadonlyMap<string, string> {
  const parts = text.split(';').map((part) => part.replaceAll(/\s+/g, ''));
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
}

function ofDmarc(answer: Found<string>): Found<string> {
  return ofKind(answer, /^v=DMARC1(\s*;|\s*$)/);
}

/** A name has texts of many kinds. */
function ofKind(answer: Found<string>, kind: RegExp): Found<string> {
  return answer === 'unanswered' ? answer : answer.filter((text) => kind.test(text));
}

function hosts(answer: Found<{ readonly exchange: string }>): Found<string> {
  return answer === 'unanswered' ? answer : answer.map(({ exchange }) => (exchange === '' ? '.' : exchange));
}

function either(first: Found<string>, second: Found<string>): Found<string> {
  return first.length > 0 && first !== 'unanswered' ? first : second;
}
