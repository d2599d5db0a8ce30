// Text that matches a pattern of a JSON schema: the first alternative of each choice, with the fewest repetitions allowed.
import randexp from 'randexp';

/** The class itself: its types promise it one level deeper. Only its parser is used: what it generates by takes long for large sets. */
const Expression = randexp as unknown as typeof randexp.default;

/** What the parser makes of a pattern; `type` says what it is. */
interface Token {
  readonly type: number;
  /** Of a group or the whole: what stands one after the other, or the alternatives. */
  readonly stack?: readonly Token[];
  readonly options?: readonly (readonly Token[])[];
  readonly followedBy?: boolean;
  readonly notFollowedBy?: boolean;
  /** Of a set. */
  readonly set?: readonly Token[];
  readonly not?: boolean;
  /** Of a range. */
  readonly from?: number;
  readonly to?: number;
  /** Of what is repeated; of a character its code. */
  readonly min?: number;
  readonly value?: Token | number;
}
const [ROOT, GROUP, SET, RANGE, REPETITION, REFERENCE, CHARACTER] = [0, 1, 3, 4, 5, 6, 7];
/** What can be read comes first. */
const PRINTABLE = { from: 32, to: 126 };
const CODE_MAX = 0xffff;

/** Null: the pattern cannot be read, matches nothing, or refers back. `step` is called for each thing that is looked at, and may throw. */
export function leastMatch(pattern: string, step: () => void): string | null {
  let tokens: Token;
  try {
    tokens = (new Expression(pattern) as unknown as { tokens: Token }).tokens;
  } catch {
    return null;
  }
  return textOf(tokens, step);
}

function textOf(token: Token, step: () => void): string | null {
  step();
  switch (token.type) {
    case ROOT:
    case GROUP:
      return token.followedBy || token.notFollowedBy ? '' : sequence(token.options?.[0] ?? token.stack ?? [], step);
    case SET:
      return leastOf(token, step);
    case REPETITION:
      return repeatToken(token, step);
    case CHARACTER:
      return String.fromCharCode(token.value as number);
    default:
      return token.type === REFERENCE ? null : '';
  }
}

function sequence(tokens: readonly Token[], step: () => void): string | null {
  let text = '';
  for (const token of tokens) {
    const more = textOf(token, step);
    if (more === null) return null;
    text += more;
  }
  return text;
}

function repeatToken({ value, min = 0 }: Token, step: () => void): string | null {
  if (min === 0) return '';
  const one = textOf(value as Token, step);
  for (let characters = min * (one?.length ?? 0); characters > 0; characters -= 1) step();
  return one === null ? null : one.repeat(min);
}

/** The least character of a set: a printable one where there is one; null: it has none. */
function leastOf(set: Token, step: () => void): string | null {
  const ranges = rangesOf(set, step);
  const printable = ranges.find(({ from, to }) => from <= PRINTABLE.to && to >= PRINTABLE.from);
  const code = printable === undefined ? ranges[0]?.from : Math.max(printable.from, PRINTABLE.from);
  return code === undefined ? null : String.fromCharCode(code);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** In their order, none within another. */
function rangesOf({ set = [], not = false }: Token, step: () => void): Range[] {
  const all = set.flatMap((token): Range[] => {
    step();
    if (token.type === SET) return rangesOf(token, step);
    if (token.type === RANGE) return [{ from: token.from as number, to: token.to as number }];
    return [{ from: token.value as number, to: token.value as number }];
  });
  all.sort((a, b) => a.from - b.from);
  return not ? outside(all) : all;
}

function outside(ranges: readonly Range[]): Range[] {
  const left: Range[] = [];
  let next = 0;
  for (const { from, to } of ranges) {
    if (from > next) left.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= CODE_MAX) left.push({ from: next, to: CODE_MAX });
  return left;
}
