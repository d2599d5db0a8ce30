// Token limits of the documents for language models. Each document states its own size, at four bytes a token.

export const llmsTokensMax = 1_900;
/** Of the page of a capability. */
export const pageTokensMax = 665;
export const moduleTokensMax = 2_500;

/** Where a text says its size. */
export const SIZE = '{tokens}';

/** As text in front of "tokens": `1,980`. */
export function tokensOf(text: string): string {
  return Math.ceil(Buffer.byteLength(text) / 4).toLocaleString('en-US');
}

/** The first of the renderings, the fullest first, that has room; the last one when none has. */
export function fitting<Level>(levels: readonly Level[], tokensMax: number, render: (level: Level) => string): string {
  let text = '';
  for (const level of levels) {
    text = render(level);
    if (Buffer.byteLength(text) <= tokensMax * 4) break;
  }
  return text.replace(SIZE, tokensOf(text));
}
