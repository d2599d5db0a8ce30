// Cuts content to its byte limit.

/** So many of the last characters are given up for the end of a line. */
const LINE_SHARE = 0.1;
const REPLACEMENT = '\ufffd';

/** At most `bytesMax` bytes of UTF-8, cut between characters, and at the end of a line where one is near. */
export function cutContent(content: string, bytesMax: number): { content: string; truncated: boolean } {
  if (content.length * 3 <= bytesMax || Buffer.byteLength(content) <= bytesMax) return { content, truncated: false };
  const bytes = Buffer.from(content.slice(0, bytesMax));
  const whole = new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
  const kept = whole.endsWith(REPLACEMENT) && !content.startsWith(whole) ? whole.slice(0, -1) : whole;
  const line = kept.lastIndexOf('\n');
  return { content: line > kept.length * (1 - LINE_SHARE) ? kept.slice(0, line) : kept, truncated: true };
}
