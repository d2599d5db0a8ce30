// What stands where a secret was. It says nothing about kind or length, and every rule leaves it as it is.
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
