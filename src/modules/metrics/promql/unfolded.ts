// Estimated size of a compiled regular expression, from its text alone. Compiling nested repetitions takes seconds and hundreds of MB.

/** A class, a quoted text, an escape, the opening of a group, a counted repetition, or one character. */
const TOKENS =
  /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]|\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\((?:\?(?:P?<\w+>|[a-zA-Z-]*:?))?|\{(\d+)(?:,(\d*))?\}|./gsu;

/** About as many instructions as its program has: what is repeated counts as often. Of a text that is no expression, some number. */
export function unfoldedSize(source: string): number {
  const outer: number[] = [];
  let [size, last] = [0, 0];
  for (const [token, least, most] of source.matchAll(TOKENS)) {
    if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      size += last * (times - 1);
      last *= times;
    } else if (token.startsWith('(')) {
      outer.push(size);
      [size, last] = [0, 0];
    } else if (token === ')') {
      last = size + 2;
      size = last + (outer.pop() ?? 0);
    } else {
      const own = token.startsWith('\\Q') ? token.length : 1;
      size += own;
      last = '*+?'.includes(token) ? last + own : own;
    }
  }
  return outer.reduce((sum, each) => sum + each, size);
}
