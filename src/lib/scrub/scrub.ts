// Removes secrets from a captured event before any of it is stored, queued or logged (contract of errors). By name: values under `password`,
// `x-api-key` and the like. By value: anything that looks like a credential, in names too. In variables, request, user and breadcrumbs also
// e-mail and IP addresses.
//
// An event of 5 KB takes 0.05 ms; the slowest megabyte about 50 ms: test/errors/scrub-speed.alone.test.ts.
import { firstCharacters } from '../clean-text.ts';
import { MARKER } from './characters.ts';
import { memberName, VALUES } from './named/member-names.ts';
import { kindOfName, NAME, type NameKind } from './named/names.ts';
import { isCardNumber } from './shapes/cards.ts';
import { closesPrivateKey, opensPrivateKey } from './shapes/pem.ts';
import { MODE, scrubText } from './text.ts';

type Members = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 100;
/** The value of such a member says what its neighbour `value` is. */
const LABELS = ['name', 'key', 'header', 'field', 'Name', 'Key'];

/**
 * A plain JSON value without secrets; each gives way to `[scrubbed]`. The shape stays: members, entries, booleans, nulls and
 * empty texts are kept. Synchronous, the same for the same value, never throws; the input is not changed, and what holds
 * nothing to hide is shared with it.
 */
export function scrubEvent<T>(value: T): T {
  return withTitle(value, new Scrubber().root(value)) as T;
}

class Scrubber {
  /** A private key has begun and its lines go on in the next texts of the same list or frame. */
  #inKey = false;

  root(value: unknown): unknown {
    if (!isMembers(value) || typeof value.user_id !== 'string') return this.#any(value, MODE.usual, 0);
    const { user_id: userId, ...rest } = value;
    const clean = this.#any(rest, MODE.usual, 0);
    return { ...(clean as Members), user_id: scrubText(userId, MODE.number) };
  }

  #any(value: unknown, mode: number, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value, mode);
    if (typeof value === 'number') return isCardNumber(value) ? MARKER : value;
    if (value === null || typeof value !== 'object') return value;
    if (depth >= DEPTH_MAX) return MARKER;
    return Array.isArray(value) ? this.#list(value, mode, depth + 1) : this.#members(value as Members, mode, depth + 1);
  }

  #text(text: string, mode: number): string {
    if (this.#inKey) {
      this.#inKey = !closesPrivateKey(text);
      return text === '' ? text : MARKER;
    }
    const clean = scrubText(text, mode);
    this.#inKey = clean !== text && opensPrivateKey(text);
    return clean;
  }

  #list(list: readonly unknown[], mode: number, depth: number): readonly unknown[] {
    let changed = false;
    const clean = list.map((entry, i) => {
      const after =
        i > 0 && typeof entry === 'string' && isNamed(list, i) ? hide(entry) : this.#any(entry, mode, depth);
      if (typeof entry !== 'string') this.#inKey = false;
      if (after !== entry) changed = true;
      return after;
    });
    return changed ? clean : list;
  }

  #members(members: Members, mode: number, depth: number): Members {
    const labelled = labelKind(members);
    const isKey = typeof members.kty === 'string';
    const names = Object.keys(members);
    let entries: [string, unknown][] | null = null;
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i] as string;
      const value = members[name];
      const known = memberName(name, mode);
      if (!known.isCodeLines) this.#inKey = false;
      const kind = isKey && known.isKeyPart ? NAME.secret : known.isValue ? labelled : known.kind;
      const after = this.#member(value, kind, mode | known.mode, depth);
      // Up to the first change nothing is copied.
      if (entries === null && (after !== value || known.clean !== name)) {
        entries = names.slice(0, i).map((before) => [before, members[before]]);
      }
      entries?.push([known.clean, after]);
    }
    this.#inKey = false;
    return entries === null ? members : toMembers(entries);
  }

  #member(value: unknown, kind: NameKind, mode: number, depth: number): unknown {
    if (kind === NAME.plain) return this.#any(value, mode, depth);
    if (kind === NAME.secret || kind === NAME.line) return hideAll(value, depth);
    const isText = typeof value === 'string' || typeof value === 'number';
    if (isText && (kind === NAME.weak || (kind === NAME.personal && (mode & MODE.personal) !== 0))) return hide(value);
    return this.#any(value, mode, depth);
  }
}

const hide = (value: unknown) =>
  value === '' || (typeof value !== 'string' && typeof value !== 'number') ? value : MARKER;

/** Everything under a name of a secret; names in there that are no words may be secrets themselves. */
function hideAll(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object') return hide(value);
  if (depth >= DEPTH_MAX) return MARKER;
  if (Array.isArray(value)) return value.map((entry) => hideAll(entry, depth + 1));
  return toMembers(Object.entries(value).map(([name, member]) => [hideName(name), hideAll(member, depth + 1)]));
}

/** Judged by what is left of it, so that a marker within does not make it long. */
function hideName(name: string): string {
  const clean = scrubText(name, MODE.personal);
  const rest = clean.replaceAll(MARKER, '');
  return rest.length >= 16 && /\d/.test(rest) ? MARKER : clean;
}

/** Names that became the same are numbered, so that none of the members is lost. */
function toMembers(entries: readonly [string, unknown][]): Members {
  const taken = new Set(entries.map(([name]) => name));
  if (taken.size === entries.length) return Object.fromEntries(entries);
  const seen = new Map<string, number>();
  return Object.fromEntries(
    entries.map(([name, value]) => {
      let number = (seen.get(name) ?? 0) + 1;
      while (number > 1 && taken.has(`${name} ${number}`)) number += 1;
      seen.set(name, number);
      return [number === 1 ? name : `${name} ${number}`, value];
    }),
  );
}

/** What `{ name: 'authorization', value: '…' }` says of its value. */
function labelKind(members: Members): NameKind {
  if (!VALUES.some((name) => name in members)) return NAME.plain;
  for (const label of LABELS) {
    const name = members[label];
    if (typeof name !== 'string' || !/^[\w .$-]{1,64}$/.test(name)) continue;
    const kind = kindOfName(name);
    if (kind !== NAME.plain) return kind;
  }
  return NAME.plain;
}

/** Whether the entry before is its name: a pair, a flat list of header names and values, or the option of a command line. */
function isNamed(list: readonly unknown[], i: number): boolean {
  const before = list[i - 1];
  if (typeof before !== 'string' || before.length > 64 || !/^[\w.$-]+:?$/.test(before)) return false;
  const isOption = /^--[\w-]+$/.test(before);
  if (!isOption && (i % 2 === 0 || list.length % 2 === 1)) return false;
  const kind = kindOfName(before);
  return kind === NAME.secret || kind === NAME.line || (kind === NAME.weak && list.length === 2);
}

/** A title cut from a longer text is cut again from the clean one: half a secret has no look any more. */
function withTitle(sent: unknown, clean: unknown): unknown {
  if (!isMembers(sent) || !isMembers(clean) || typeof sent.title !== 'string') return clean;
  const { title } = sent;
  const sources = [textsOf(sent), textsOf(clean)] as const;
  const i = sources[0].findIndex((text) => text.length > title.length && text.startsWith(title));
  if (i < 0) return clean;
  const again = firstCharacters(sources[1][i] as string, [...title].length);
  return again === clean.title ? clean : { ...clean, title: again };
}

function textsOf(event: Members): string[] {
  const thrown = isMembers(event.exception) ? [event.exception.type, event.exception.value] : [];
  const code = isMembers(event.extra) ? event.extra.code : null;
  return [event.message, thrown.filter(Boolean).join(': '), thrown[1], code].map((text) =>
    typeof text === 'string' ? text : '',
  );
}

const isMembers = (value: unknown): value is Members =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
