// The beginning of an answer as text that PostgreSQL and JSON can hold.

/**
 * Decodes bytes as UTF-8, U+FFFD for what is none and for NUL, and cuts the text to `bytesMax` bytes at a character's boundary.
 * @param cut the bytes stop in the midst of the answer: half a character at their end is dropped.
 */
export function snippetOf(bytes: Buffer, bytesMax: number, cut: boolean): string {
  const text = decode(bytes, cut).replaceAll('\0', '\uFFFD');
  // A replaced byte takes three, so the text may be longer than the bytes were.
  const encoded = Buffer.from(text, 'utf8');
  return encoded.length <= bytesMax ? text : decode(encoded.subarray(0, bytesMax), true);
}

function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut });
}
