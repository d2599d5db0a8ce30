// Reads where a request goes, as the rule of a connection compares it and as it goes on the wire. Both come from one reading: the path that
// is sent is the path that was compared, resolved, so a target cannot read another one out of it.
import { isIP } from 'node:net';

const PATH_CHARACTERS_MAX = 8192;
/** RFC 1035, section 2.3.4. */
const NAME_CHARACTERS_MAX = 253;
/** With the query: about what servers take as the first line of a request. */
const URL_CHARACTERS_MAX = 16_384;

export interface RequestPath {
  /** What rules compare: percent-decoded once, with `.`, `..` and `//` resolved. Begins with `/`. */
  readonly path: string;
  /** The same resolved path in the caller's own percent-encoding. Begins with `/`. */
  readonly sentPath: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

export interface RequestTarget extends RequestPath {
  readonly secure: boolean;
  /** A name in lower case without its final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface RuleRefusal {
  readonly refusal: 'host' | 'path';
  /** One sentence that names the rule. */
  readonly message: string;
}

interface Segment {
  readonly sent: string;
  readonly text: string;
}

/** Of the path as it was written. Targets disagree on how to read each of these. */
const REFUSED_IN_PATH: readonly (readonly [RegExp, string])[] = [
  [/\\|%5c/i, 'The path must not hold a backslash, encoded or not.'],
  [/%2f/i, 'The path must not hold an encoded slash (%2F).'],
  [/%(?![0-9a-f]{2})/i, 'The path has a % that two hexadecimal digits do not follow.'],
  [/%(?:[01][0-9a-f]|7f|c2%[89][0-9a-f])/i, 'The path must not hold control characters.'],
];

/** Of the path decoded once. `%25` may repeat: a proxy on the way can decode once more, and its target again. */
const ENCODED_TWICE = /%(?:25)*(?:2e|2f|5c|7f|[01][0-9a-f])/i;

/** What the WHATWG URL standard encodes in a path and in a query, beside `#` and `?`; spaces and controls never come this far. */
const ENCODED_IN_PATH = /[^\x21-\x7e]|["<>^`{}]/gu;
const ENCODED_IN_QUERY = /[^\x21-\x7e]|["<>']/gu;

/**
 * Reads an absolute URL of http or https. Hosts are read by the WHATWG parser, so `0x7f.1` is 127.0.0.1 and `bücher.example` is punycode;
 * whether the address may be reached is for the outbound guard to say. The fragment is dropped.
 */
export function readRequestTarget(url: string): RequestTarget | RuleRefusal {
  if (url.length > URL_CHARACTERS_MAX) return tooLong('URL', URL_CHARACTERS_MAX);
  // The parser also reads `https:host`, `https:\\host` and `https:///host`; a rule that a person reads should not need to.
  const parts = /^(https?:\/\/)([^/\\?#]+)(.*)$/is.exec(url);
  if (parts === null) return refusal('host', 'The URL must begin with https:// or http:// and a host.');
  const [, scheme = '', authority = '', rest = ''] = parts;
  const origin = readOrigin(scheme, authority);
  if ('refusal' in origin) return origin;
  const path = readRequestPath(/^[/\\]/.test(rest) ? rest : `/${rest}`);
  return 'refusal' in path ? path : { ...origin, ...path };
}

/** @param authority has no slash, backslash, `?` or `#`, so the parser cannot find another end of it */
function readOrigin(scheme: string, authority: string): Omit<RequestTarget, keyof RequestPath> | RuleRefusal {
  // The parser drops tabs and line breaks in silence, and an empty user name leaves no trace.
  if (!authority.isWellFormed() || /[\s\p{Cc}]/u.test(authority)) {
    return refusal('host', 'The host must not hold spaces, control characters or lone surrogates.');
  }
  if (authority.includes('@')) return refusal('host', 'The URL must not hold a user name or password; use a header.');
  const parsed = URL.parse(`${scheme}${authority}/`);
  const host = parsed?.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') ?? '';
  if (parsed === null || !isHostText(host)) return refusal('host', 'The host is neither a host name nor an address.');
  const secure = parsed.protocol === 'https:';
  return { secure, host, port: parsed.port === '' ? defaultPort(secure) : Number(parsed.port) };
}

/** Of https (`secure`) and http. */
export function defaultPort(secure: boolean): number {
  return secure ? 443 : 80;
}

/**
 * Whether a parsed host is an address or a name of RFC 1123, section 2.1, where underscores are in use as well. The parser also lets `*`,
 * quotation marks, braces and empty labels pass.
 */
export function isHostText(host: string): boolean {
  if (isIP(host) !== 0) return true;
  return host.length <= NAME_CHARACTERS_MAX && /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(host);
}

/** Reads a path with its query, as a request line has it: `/v1/x?y=1`. */
export function readRequestPath(path: string): RequestPath | RuleRefusal {
  if (path.length > URL_CHARACTERS_MAX) return tooLong('path and its query', URL_CHARACTERS_MAX);
  const whole = before(path, '#');
  if (!whole.isWellFormed() || /[\0-\x20\x7f-\x9f]/.test(whole)) {
    return refusal('path', 'The path and the query must not hold spaces, control characters or lone surrogates.');
  }
  const written = before(whole, '?');
  const resolved = readSegments(written);
  if ('refusal' in resolved) return resolved;
  const query = whole.slice(written.length).replace(ENCODED_IN_QUERY, encodeCharacter);
  return { ...resolved, query: query === '?' ? '' : query };
}

function readSegments(written: string): Omit<RequestPath, 'query'> | RuleRefusal {
  const refused = REFUSED_IN_PATH.find(([pattern]) => pattern.test(written));
  if (refused !== undefined) return refusal('path', refused[1]);
  if (!written.startsWith('/')) return refusal('path', 'The path must begin with a slash.');
  const decoded = decode(written);
  if (decoded === null) return refusal('path', 'The path is not valid UTF-8 when decoded.');
  if (ENCODED_TWICE.test(decoded)) {
    return refusal(
      'path',
      'The path must not hold dots, slashes, backslashes or control characters that are encoded twice.',
    );
  }
  const segments = written.slice(1).split('/').map(readSegment);
  if (segments.some(({ text }) => isLikeDots(text))) {
    return refusal('path', 'The path has a segment that some targets read as . or .., such as ..; or full-width dots.');
  }
  const resolved = resolveDots(segments);
  const sentPath = `/${resolved.map(({ sent }) => sent).join('/')}`;
  if (sentPath.length > PATH_CHARACTERS_MAX) return tooLong('path', PATH_CHARACTERS_MAX);
  return { path: `/${resolved.map(({ text }) => text).join('/')}`, sentPath };
}

function readSegment(written: string): Segment {
  return { sent: written.replace(ENCODED_IN_PATH, encodeCharacter), text: decodeURIComponent(written) };
}

/**
 * Tomcat cuts `;` and what follows from each segment before it resolves dots (servlet specification, section 3.5), and some targets fold
 * full-width characters (NFKC) after they have looked for dots.
 */
function isLikeDots(text: string): boolean {
  if (text === '.' || text === '..') return false;
  return text
    .normalize('NFKC')
    .split(/[/\\]/)
    .some((part) => /^\.\.?(?:;|$)/.test(part));
}

/** RFC 3986, section 5.2.4, as the WHATWG parser does it: `..` takes an empty segment too. Empty segments go afterwards. */
function resolveDots(segments: readonly Segment[]): readonly Segment[] {
  const kept: Segment[] = [];
  for (const segment of segments) {
    if (segment.text === '..') kept.pop();
    else if (segment.text !== '.') kept.push(segment);
  }
  const last = segments.at(-1)?.text;
  const isFolder = last === '' || last === '.' || last === '..';
  const named = kept.filter(({ text }) => text !== '');
  return isFolder ? [...named, { sent: '', text: '' }] : named;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// encodeURIComponent leaves the apostrophe, which the query of a URL may not hold.
function encodeCharacter(character: string): string {
  return character === "'" ? '%27' : encodeURIComponent(character);
}

function before(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}

function tooLong(what: string, charactersMax: number): RuleRefusal {
  return refusal('path', `The ${what} has more than ${charactersMax} characters.`);
}

function refusal(kind: RuleRefusal['refusal'], message: string): RuleRefusal {
  return { refusal: kind, message };
}
