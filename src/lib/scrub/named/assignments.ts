// Secrets after a name in running text: `password=…`, `api_key: …`, `"token":"…"`, `?access_token=…`, header lines, `<password>…</password>`,
// `--token …`. One pass over the separators; the name is looked up backwards from there.
import { codeAt, isNameCharacter, isQuote, isSpace, replaceSpans } from '../characters.ts';
import { kindOfName, NAME, type NameKind } from './names.ts';
import { type Assigned, valueSpan } from './values.ts';

const NAME_CHARACTERS_MAX = 64;
const GAP_CHARACTERS_MAX = 8;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly kind: NameKind;
  readonly quoted: boolean;
}

/** `isCode`: the text is a line of a program, where calls and members behind a name are kept. */
export function scrubAssignments(text: string, isCode: boolean): string {
  const spans: number[] = [];
  let kept = 0;
  let at = 0;
  const hasFlags = text.includes('--');
  const { length } = text;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (!isSeparator(code) || !mayAssign(text, at, code, hasFlags)) {
      at += 1;
      continue;
    }
    const found = assignedAt(text, at, kept, isCode);
    const span = found === null ? null : valueSpan(text, found);
    if (span === null) {
      at += 1;
      continue;
    }
    spans.push(span.start, span.end);
    kept = span.end;
    at = span.end;
  }
  return replaceSpans(text, spans);
}

const SEPARATORS = new Uint8Array(128);
for (const one of '=:>"\'` ') SEPARATORS[one.charCodeAt(0)] = 1;
const isSeparator = (code: number) => code < 128 && SEPARATORS[code] === 1;

/** Cheap reasons against a separator: most of them end here. */
function mayAssign(text: string, at: number, code: number, hasFlags: boolean): boolean {
  const before = codeAt(text, at - 1);
  if (code === SPACE) return hasFlags && isNameCharacter(before) && codeAt(text, at + 1) !== DASH;
  if (isQuote(code)) return before === SPACE && isNameCharacter(codeAt(text, at - 2));
  const next = codeAt(text, at + 1);
  if (code === COLON) return next !== COLON && next !== EQUALS && before !== COLON && next !== SLASH;
  if (code === EQUALS) return next !== MORE && before !== EQUALS;
  return before === EQUALS || isNameCharacter(before);
}

function assignedAt(text: string, at: number, kept: number, isCode: boolean): Assigned | null {
  const code = codeAt(text, at);
  if (code === SPACE) return flagAt(text, at, kept, isCode);
  if (isQuote(code)) return quotedAfterName(text, at, kept, isCode);
  if (code === MORE && codeAt(text, at - 1) === EQUALS) return arrowAt(text, at, kept, isCode);
  const next = codeAt(text, at + 1);
  const found = nameBefore(text, at, kept);
  if (found === null) return null;
  const { kind, quoted } = found;
  if (code === MORE) return isElement(text, found) ? { kind, from: at + 1, form: 'element', quote: '', isCode } : null;
  const compared = code === EQUALS && (next === EQUALS || isComparison(codeAt(text, at - 1)));
  const form =
    compared || (kind === NAME.weak && code === COLON && !quoted) ? 'quoted' : code === COLON ? 'colon' : 'equals';
  return { kind, from: at + 1, form, quote: quoteAround(text, found), isCode };
}

const SPACE = 32;
const COLON = 58;
const EQUALS = 61;
const MORE = 62;
const DASH = 45;
const SLASH = 47;

/** `!=`, `==`, `<=`, `>=`, `~=`. */
const isComparison = (code: number) => code === 33 || code === 60 || code === 61 || code === 62 || code === 126;

/** `--password hunter2`. */
function flagAt(text: string, at: number, kept: number, isCode: boolean): Assigned | null {
  const start = nameStart(text, at, kept);
  if (text[start] !== '-' || text[start + 1] !== '-') return null;
  const kind = kindOfName(text.slice(start + 2, at));
  return kind === NAME.secret || kind === NAME.line ? { kind, from: at + 1, form: 'equals', quote: '', isCode } : null;
}

/** `wrong password 'hunter2'`: only names of passwords, since a token is also what a parser reads. */
function quotedAfterName(text: string, at: number, kept: number, isCode: boolean): Assigned | null {
  const name = text.slice(nameStart(text, at - 1, kept), at - 1);
  return /^(?:password|passwd|passphrase|passcode|pwd|secret)$/i.test(name)
    ? { kind: NAME.secret, from: at, form: 'quoted', quote: '', isCode }
    : null;
}

/** Hash rockets: `"password"=>"x"`, `[password] => x`; behind a bare name only a quoted value, as `token => verify()` is a function. */
function arrowAt(text: string, at: number, kept: number, isCode: boolean): Assigned | null {
  const found = nameBefore(text, at - 1, kept);
  return found && { kind: found.kind, from: at + 1, form: found.quoted ? 'equals' : 'quoted', quote: '', isCode };
}

/** The name before a separator when it is one of a secret. Of `config.db.password` only the last part is the name. */
function nameBefore(text: string, at: number, kept: number): Found | null {
  const least = Math.max(kept, at - GAP_CHARACTERS_MAX);
  let end = at;
  let quoted = false;
  while (end > least) {
    const code = codeAt(text, end - 1);
    if (isQuote(code) || code === 93) quoted = true;
    else if (!(isSpace(code) || code === 92 || code === 63 || code === 33 || code === 58 || code === 60)) break;
    end -= 1;
  }
  const start = nameStart(text, end, kept);
  if (end - start < 2) return null;
  const kind = kindOfName(text.slice(start, end));
  if (kind === NAME.secret && isSyntaxToken(text, start, end)) return null;
  if (kind !== NAME.plain && kind !== NAME.personal) return { start, end, kind, quoted };
  return kind === NAME.plain ? twoWordSecret(text, start, end, kept, quoted) : null;
}

/** `API key: …`, `session id = …`. */
function twoWordSecret(text: string, start: number, end: number, kept: number, quoted: boolean): Found | null {
  if (end - start > 6 || codeAt(text, start - 1) !== SPACE || start - 1 <= kept) return null;
  if (!/^(?:keys?|ids?|codes?|number|phrase)$/i.test(text.slice(start, end))) return null;
  const first = nameStart(text, start - 1, kept);
  const kind = kindOfName(`${text.slice(first, start - 1)}_${text.slice(start, end)}`);
  return kind === NAME.secret ? { start: first, end, kind, quoted } : null;
}

/** What parsers say: `Unexpected token: …`. */
function isSyntaxToken(text: string, start: number, end: number): boolean {
  return end - start === 5 && /(?:unexpected|illegal) $/i.test(text.slice(Math.max(0, start - 11), start));
}

function nameStart(text: string, end: number, kept: number): number {
  const least = Math.max(kept, end - NAME_CHARACTERS_MAX);
  let start = end;
  while (start > least && isNameCharacter(codeAt(text, start - 1))) start -= 1;
  return start;
}

const isElement = (text: string, { start }: Found) =>
  text[start - 1] === '<' ||
  (text[start - 1] === ':' && /<\w{1,20}:$/.test(text.slice(Math.max(0, start - 22), start)));

/** The quote that a whole pair stands in, as in `-H 'Cookie: a=b'`; empty when there is none. */
function quoteAround(text: string, { start, quoted }: Found): string {
  return !quoted && isQuote(codeAt(text, start - 1)) ? (text[start - 1] as string) : '';
}
