// Credentials recognized by their own form: prefixes of providers, JSON Web Tokens, `Bearer` and `Basic`, and keys that are plain random text of
// a known length. Each pattern succeeds or fails within a bounded number of characters of its start.
import { codeAt, MARKER, replaceSpans } from '../characters.ts';

const PREFIXED = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    'qm_(?:live|test)_[0-9A-Za-z]{16,}',
    '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    'gh[pousr]_[A-Za-z0-9]{16,}',
    'github_pat_[A-Za-z0-9_]{16,}',
    'gl(?:pat|ptt|dt|rt|rtr|ft|soat|cbt|imt|agent|oas)-[\\w-]{16,}',
    'xox[a-z]-[\\w-]{10,}',
    'xoxe\\.xox[a-z]-[\\w-]{10,}',
    'xapp-\\d-[\\w-]{10,}',
    '[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}',
    'whsec_[A-Za-z0-9+/=_-]{16,}',
    'sk-(?:ant|proj|svcacct|admin|or|lf)-[\\w-]{16,}',
    'sk-[A-Za-z0-9]{20,}',
    'AIza[\\w-]{30,}',
    'ya29\\.[\\w-]{20,}',
    'GOCSPX-[\\w-]{16,}',
    'SG\\.[\\w-]{16,32}\\.[\\w-]{16,}',
    'SK[0-9a-f]{32}(?![0-9A-Za-z])',
    'key-[0-9a-f]{32}(?![0-9A-Za-z])',
    '[0-9a-f]{32}-us\\d{1,2}(?!\\w)',
    'npm_[A-Za-z0-9]{30,}',
    'pypi-(?:AgE[\\w-]{12,}|[\\w-]{50,})',
    'rubygems_[0-9a-f]{40,}',
    'dckr_(?:pat|oat)_[\\w-]{16,}',
    'do[por]_v1_[0-9a-f]{32,}',
    'shp(?:at|ss|ca|pa)_[0-9A-Fa-f]{32,}',
    'hf_[A-Za-z0-9]{30,}',
    'r8_[A-Za-z0-9]{30,}',
    'gsk_[A-Za-z0-9]{30,}',
    'xai-[A-Za-z0-9]{40,}',
    'pplx-[A-Za-z0-9]{30,}',
    'nvapi-[\\w-]{30,}',
    'hv[sbr]\\.[\\w-]{20,}',
    'dapi[0-9a-f]{32}',
    'glsa_[A-Za-z0-9_]{30,}',
    'sntry[su]_[\\w=+/-]{20,}',
    'sq0(?:atp|csp|idp)-[\\w-]{20,}',
    'EAA[A-Za-z0-9]{60,}',
    'AT[AC]TT3[\\w=-]{30,}',
    'lin_(?:api|oauth)_[A-Za-z0-9]{30,}',
    'ntn_[A-Za-z0-9]{30,}',
    'secret_[A-Za-z0-9]{40,}',
    'sb[p]_[0-9a-f]{40}',
    'sb_secret_[\\w-]{16,}',
    'PMAK-[0-9a-f-]{40,}',
    'tskey-[\\w-]{16,}',
    'dp\\.(?:pt|st|ct|sa)\\.[\\w.-]{30,}',
    'AGE-SECRET-KEY-1[0-9A-Z]{50,}',
    '\\d{8,10}:AA[\\w-]{32,}',
    '[MNO][A-Za-z0-9]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,}',
    'b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]*',
    'MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC[A-Za-z0-9+/=\\s]*',
    'hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/-]{16,}',
    'discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{16,}',
  ].join('|')})`,
  'g',
);

/** Needs a run of at least 16 characters of words in the text. */
export function scrubPrefixed(text: string): string {
  return scrubJwts(text.replace(PREFIXED, MARKER));
}

const JWT_HEADER_MIN = 12;

/** RFC 7519, also RFC 7516: two to five parts of base64url, the first of them a JSON object. By hand, since `eyJ` may repeat without end. */
function scrubJwts(text: string): string {
  const spans: number[] = [];
  let at = text.indexOf('eyJ');
  while (at >= 0) {
    const header = partEnd(text, at);
    let end = header;
    for (let part = 0; part < 4 && text[end] === '.'; part += 1) end = partEnd(text, end + 1);
    if (header - at >= JWT_HEADER_MIN && end > header + 4 && !isAlphanumeric(codeAt(text, at - 1))) spans.push(at, end);
    at = text.indexOf('eyJ', end);
  }
  return replaceSpans(text, spans);
}

function partEnd(text: string, from: number): number {
  let end = from;
  while (isAlphanumeric(codeAt(text, end)) || text[end] === '_' || text[end] === '-' || text[end] === '=') end += 1;
  return end;
}

const SCHEME = /(?<![A-Za-z0-9])(bearer|basic)[ \t]{1,4}(["']?)([\w.~+/-]{4,}={0,2})/gi;

/** RFC 6750 and RFC 7617 in running text; `Basic authentication` and `bearer token` stay. */
export function scrubSchemes(text: string): string {
  return text.replace(SCHEME, (all, scheme: string, quote: string, value: string) => {
    const secret = scheme.length === 5 ? isBasic(value) : isBearer(value);
    return secret ? `${all.slice(0, all.length - value.length - quote.length)}${quote}${MARKER}` : all;
  });
}

const isBearer = (value: string) =>
  value.length >= 6 && (/[\d=]/.test(value) || /[a-z][A-Z]/.test(value) || value.length >= 24);

function isBasic(value: string): boolean {
  if (!/[\dA-Z=]/.test(value)) return false;
  return Buffer.from(value.slice(0, 512), 'base64').includes(58);
}

/** Lengths of random base64 that are keys: an AWS secret access key, a line of a private key. */
const RANDOM_LENGTHS = new Set([40, 64, 76]);

/** Needs a run of at least 40 characters of base64 in the text. */
export function scrubRandom(text: string): string {
  const spans: number[] = [];
  let at = 0;
  while (at < text.length) {
    let end = at;
    while (isBase64(codeAt(text, end))) end += 1;
    if (RANDOM_LENGTHS.has(end - at) && isApart(text, at, end) && looksRandom(text, at, end)) spans.push(at, end);
    at = end + 1;
  }
  return replaceSpans(text, spans);
}

const isApart = (text: string, at: number, end: number) =>
  !/[\w-]/.test(text[at - 1] ?? '') && !/[\w-]/.test(text[end] ?? '');

/** Random base64 changes between capitals, small letters and digits at two of three steps; paths and words seldom do. */
function looksRandom(text: string, at: number, end: number): boolean {
  const counts = [0, 0, 0, 0];
  let changes = 0;
  let before = -1;
  for (let i = at; i < end; i += 1) {
    const kind = kindOf(codeAt(text, i));
    counts[kind] = (counts[kind] as number) + 1;
    if (kind !== before) changes += 1;
    before = kind;
  }
  const [capitals, small, digits] = counts as [number, number, number, number];
  const length = end - at;
  return digits >= 2 && capitals >= length / 8 && small >= length / 8 && changes >= length * 0.4;
}

const kindOf = (code: number) => (code >= 97 ? 1 : code >= 65 ? 0 : code >= 48 ? 2 : 3);
const isAlphanumeric = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isBase64 = (code: number) => isAlphanumeric(code) || code === 43 || code === 47;
