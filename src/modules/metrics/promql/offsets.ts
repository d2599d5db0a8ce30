// Rewrites query text where our grammar differs from Prometheus 2.42, before parsing; no position in the text moves. An offset belongs to the
// selector right before it, while the grammar gives it the whole expression. A number may end in a point, and comments may stand anywhere.
import { durationMs } from './literals.ts';

export interface Offset {
  readonly ms: number;
  /** Where the keyword begins. */
  readonly at: number;
}

export interface Prepared {
  /** Spaces stand for comments, offsets and the points of numbers. */
  readonly text: string;
  /** By the place where what they belong to ends. Of several at one place the last one stands in `twice`. */
  readonly offsets: ReadonlyMap<number, Offset>;
  readonly twice: Offset | null;
}

const COMMENTS = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|#[^\n]*/g;
const POINTS = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(?<![\w.:])(\d+)\.(e[+-]?\d+)?(?![\w.])/gis;
const OFFSETS =
  /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(?<![\w:])offset(?![\w:])\s*([+-]?)\s*((?:\d+(?:ms|[smhdwy]))+)(?![\w.:])/gis;

export function prepareText(query: string): Prepared {
  const plain = query
    .replaceAll(COMMENTS, (found, literal) => literal ?? ' '.repeat(found.length))
    .replaceAll(POINTS, (_, literal, digits, exponent) => literal ?? `${digits}${exponent ?? ''} `);
  const offsets = new Map<number, Offset>();
  let twice: Offset | null = null;
  let text = '';
  let from = 0;
  for (const found of plain.matchAll(OFFSETS)) {
    const [all, literal, sign, duration] = found;
    const ms = literal === undefined ? durationMs((duration as string).toLowerCase()) : null;
    if (ms === null) continue;
    text += plain.slice(from, found.index);
    from = found.index;
    const end = text.trimEnd().length;
    const offset = { ms: sign === '-' ? -ms : ms, at: found.index };
    if (offsets.has(end)) twice = offset;
    offsets.set(end, offset);
    text += ' '.repeat(all.length);
    from = found.index + all.length;
  }
  return { text: text + plain.slice(from), offsets, twice };
}
