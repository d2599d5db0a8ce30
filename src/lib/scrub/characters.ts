// Shared parts of the passes over running text: character classes, and the marker that replaces a secret. The marker reveals neither kind nor
// length, and every rule leaves it unchanged.

export const MARKER = '[scrubbed]';

/** `text` with each span of `spans` (start, end, start, end …; ascending, apart) replaced by the marker. */
export function replaceSpans(text: string, spans: readonly number[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let kept = 0;
  for (let i = 0; i < spans.length; i += 2) {
    parts.push(text.slice(kept, spans[i]), MARKER);
    kept = spans[i + 1] as number;
  }
  parts.push(text.slice(kept));
  return parts.join('');
}

const NAMES = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) NAMES[code] = /[\w$-]/.test(String.fromCharCode(code)) ? 1 : 0;

/** What names in text are made of: letters, digits, `_`, `-`, `$`. */
export const isNameCharacter = (code: number) => code < 128 && NAMES[code] === 1;

export const isQuote = (code: number) => code === 34 || code === 39 || code === 96;

export const isSpace = (code: number) => code === 32 || code === 9;

export const isBlank = (code: number) => code === 32 || (code >= 9 && code <= 13);

/** charCodeAt with 0 beyond the ends: its NaN there makes every later call of the same place ten times slower. */
export const codeAt = (text: string, at: number) => (at >= 0 && at < text.length ? text.charCodeAt(at) : 0);
