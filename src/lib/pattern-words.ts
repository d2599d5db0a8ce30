// Words for the pattern of a text field, to follow the name of the field: `may only have a-z, 0-9 and -`. They are made of patterns that are a
// row of literals and sets of characters, as those of most names and ids are; others are given theirs where they are written.

interface Part {
  /** `undefined` for a literal. */
  readonly set?: string;
  readonly literal: string;
  readonly min: number;
  readonly max: number;
}

const LITERAL = String.raw`[A-Za-z0-9_#@,:-]|\\[+.\-]`;
const SET = String.raw`\[(?:[^\\\]]|\\(?:[pP]\{\w+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.))+\]`;
const COUNT = String.raw`\{(\d+)(?:(,)(\d*))?\}|([*+])`;
const PART = new RegExp(`(?:(${SET})|(${LITERAL}))(?:${COUNT})?`, 'y');

const CONTROL = 'control characters';
const HEX = 'hexadecimal digits';
/** Members of a set that are told by a name; the rest are told as they are written. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/^(?:\\x20| )-(?:\\x7e|~)/u, 'printable ASCII characters'],
  [/^(?:\\x21|!)-(?:\\x7e|~)/u, 'printable ASCII characters except spaces'],
  [/^\\p\{Cc\}/u, CONTROL],
  [/^(?:\\u0000|\\x00)-(?:\\u0008|\\x1f|\\x20)/u, CONTROL],
  [/^\\[ux][0-9a-f]+-\\[ux][0-9a-f]+/u, CONTROL],
  [/^\\(?:u007f|x7f|u000b|u000c)/u, CONTROL],
  [/^\\p\{Cs\}/u, 'broken Unicode'],
  [/^\\(?:0|u0000)/u, 'NUL'],
  [/^\\s/u, 'spaces'],
  [/^ /u, 'spaces'],
  [/^(?:0-9A-Fa-f|a-f0-9|0-9a-f)/u, HEX],
  [/^[A-Za-z0-9]-[A-Za-z0-9]/u, ''],
];

const given = new Map<string, string>();

/** The pattern, whose words cannot be made of it. */
export function patternWithWords(pattern: string, words: string): string {
  given.set(pattern, words);
  return pattern;
}

/** `undefined` for a pattern of another form that was given none. */
export function patternWords(pattern: string): string | undefined {
  return given.get(pattern) ?? wordsOf(pattern);
}

function wordsOf(pattern: string): string | undefined {
  const parts = readParts(pattern);
  if (parts === undefined) return undefined;
  const [first, second] = parts;
  if (first === undefined || parts.length > 3) return undefined;
  if (parts.length === 1 && first.set?.startsWith('[^')) return `must not have ${or(members(first.set))}`;
  if (parts.length === 1 && first.max === Number.POSITIVE_INFINITY && first.set !== undefined)
    return `may only have ${and(members(first.set))}`;
  if (parts.some(({ set }) => set?.startsWith('[^'))) return undefined;
  if (parts.length === 2 && isOne(first) && second?.set !== undefined)
    return `must begin with ${or(members(first.set ?? ''))} and may only have ${and(members(second.set))}`;
  return `must be ${parts.map(partWords).join(', then ')}`;
}

function readParts(pattern: string): Part[] | undefined {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return undefined;
  const text = pattern.slice(1, -1);
  const parts: Part[] = [];
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const found = PART.exec(text);
    if (found === null) return undefined;
    at = PART.lastIndex;
    const [, set, literal, least, comma, most, sign] = found;
    const last = parts.at(-1);
    const isPlain = least === undefined && sign === undefined;
    if (literal !== undefined && !isPlain) return undefined;
    if (literal !== undefined && last !== undefined && last.set === undefined) {
      parts[parts.length - 1] = { ...last, literal: last.literal + literal.replace('\\', '') };
      continue;
    }
    const min = sign === undefined ? Number(least ?? 1) : Number(sign === '+');
    const max = sign !== undefined || most === '' ? Number.POSITIVE_INFINITY : Number(comma === undefined ? min : most);
    parts.push({ set, literal: literal?.replace('\\', '') ?? '', min, max });
  }
  return parts;
}

function isOne({ set, min, max }: Part): boolean {
  return set !== undefined && min === 1 && max === 1;
}

function partWords({ set, literal, min, max }: Part): string {
  if (set === undefined) return literal;
  if (min === 1 && max === 1) return `one of ${and(members(set))}`;
  const count = max === min ? String(min) : max === Number.POSITIVE_INFINITY ? `${min} or more` : `${min} to ${max}`;
  const told = members(set);
  if (told[0] === '0-9' && told.length === 1) return `${count} digits`;
  if (told[0] === HEX && told.length === 1) return `${count} ${HEX}`;
  return `${count} characters of ${and(told)}`;
}

/** Signs come last, as one member. */
function members(set: string): string[] {
  const named = new Set<string>();
  const signs: string[] = [];
  let rest = set.slice(set.startsWith('[^') ? 2 : 1, -1);
  while (rest !== '') {
    const [form, name] = NAMED.find(([each]) => each.test(rest)) ?? [/^\\?./u, undefined];
    const text = form.exec(rest)?.[0] ?? rest;
    if (name === undefined) signs.push(text.replace('\\', ''));
    else named.add(name === '' ? text : name);
    rest = rest.slice(text.length);
  }
  return signs.length === 0 ? [...named] : [...named, signs.join(' ')];
}

function and(words: readonly string[]): string {
  return list(words, 'and');
}

function or(words: readonly string[]): string {
  return list(words, 'or');
}

function list(words: readonly string[], last: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
