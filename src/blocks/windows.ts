// The windows in which a list goes through a period: ever longer ones, since most lists are full after the first.
const GROWTH = 4;

export interface Listed {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** Of the kind: all windows but the last end where a span does, so no block belongs to two. */
  readonly spanMs: number;
  readonly isNewestFirst: boolean;
}

/** From where the list begins: start, and end that is not included. */
export function* windowsOf({ fromMs, toMs, spanMs, isNewestFirst }: Listed): Generator<readonly [number, number]> {
  let size = spanMs;
  if (isNewestFirst) {
    for (let end = toMs; end > fromMs; size *= GROWTH) {
      const start = Math.max(fromMs, Math.floor((end - size) / spanMs) * spanMs);
      yield [start, end];
      end = start;
    }
    return;
  }
  for (let start = fromMs; start < toMs; size *= GROWTH) {
    const end = Math.min(toMs, Math.ceil((start + size) / spanMs) * spanMs);
    yield [start, end];
    start = end;
  }
}
