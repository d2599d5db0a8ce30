// Rewrites query text where our grammar differs from Prometheus 2.42, before parsing; no position in the text moves. The modifiers offset and @
// belong to the selector or subquery right before them, while the grammar gives them the whole expression. A number may end in a point, comments
// may stand anywhere, and holt_winters has another name.
import { durationMs, numberOf } from './literals.ts';
import type { Modified } from './query.ts';

export interface Modifiers extends Modified {
  /** Where the first keyword begins. */
  readonly keywordAt: number;
}

export interface Prepared {
  /** Spaces stand for comments, modifiers and the points of numbers. */
  readonly text: string;
  /** By the place where what they belong to ends. */
  readonly modifiers: ReadonlyMap<number, Modifiers>;
  /** Where a second modifier of the same kind begins; null: there is none. */
  readonly twiceAt: number | null;
  /** Functions that stand in the text by another name of the same length, by their place. */
  readonly renamed: ReadonlyMap<number, string>;
}

const LITERAL = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)/s.source;
const COMMENTS = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|#[^\n]*/g;
const POINTS = new RegExp(String.raw`${LITERAL}|(?<![\w.:])(\d+)\.(e[+-]?\d+)?(?![\w.])`, 'gis');
const RENAMED = new RegExp(String.raw`${LITERAL}|(?<![\w:])(holt_winters)(?=\s*\()`, 'gs');
/** As long as holt_winters; both take what parentheses hold. */
const STANDS_FOR = 'day_of_month';
const OFFSET = String.raw`(?<![\w:])offset(?![\w:])\s*([+-]?)\s*((?:\d+(?:ms|[smhdwy]))+)(?![\w.:])`;
const AT = String.raw`@\s*(?:(start|end)\s*\(\s*\)|([+-]?\s*[\w.]+(?:(?<=[0-9.]e)[+-]?\d+)?))`;
const MODIFIERS = new RegExp(`${LITERAL}|${OFFSET}|${AT}`, 'gis');

export function prepareText(query: string): Prepared {
  const renamed = new Map<number, string>();
  const plain = query
    .replaceAll(COMMENTS, (found, literal) => literal ?? ' '.repeat(found.length))
    .replaceAll(POINTS, (_, literal, digits, exponent) => literal ?? `${digits}${exponent ?? ''} `)
    .replaceAll(RENAMED, (_, literal, name, at) => {
      if (literal !== undefined) return literal;
      renamed.set(at, name);
      return STANDS_FOR;
    });
  const found = new Map<number, Found>();
  let twiceAt: number | null = null;
  let text = '';
  let from = 0;
  for (const match of plain.matchAll(MODIFIERS)) {
    const modifier = modifierOf(match);
    if (modifier === null) continue;
    text += plain.slice(from, match.index);
    from = match.index + match[0].length;
    const end = text.trimEnd().length;
    const known = found.get(end) ?? { keywordAt: match.index };
    if (Object.keys(modifier).some((kind) => Object.hasOwn(known, kind))) twiceAt = match.index;
    found.set(end, { ...known, ...modifier });
    text += ' '.repeat(match[0].length);
  }
  const modifiers = [...found].map(([end, each]) => [end, { offsetMs: 0, at: null, ...each }] as const);
  return { text: text + plain.slice(from), modifiers: new Map(modifiers), twiceAt, renamed };
}

type Found = Partial<Modified> & Pick<Modifiers, 'keywordAt'>;

/** Null for what is none: a literal, and what the grammar then refuses. */
function modifierOf([, literal, sign, duration, end, time]: RegExpExecArray): Partial<Modified> | null {
  if (literal !== undefined) return null;
  if (duration !== undefined) {
    const ms = durationMs(duration.toLowerCase());
    return ms === null ? null : { offsetMs: sign === '-' ? -ms : ms };
  }
  if (end !== undefined) return { at: end.toLowerCase() as 'start' | 'end' };
  const ms = Math.round((numberOf(time ?? '') ?? Number.NaN) * 1_000);
  return Number.isSafeInteger(ms) ? { at: ms } : null;
}
