// Shortens text for lists and for a model's context.

/** At most so many characters: whole sentences where they are half of that at least, else whole words. */
export function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const head = text.slice(0, charactersMax);
  const sentence = Math.max(head.lastIndexOf('. '), head.endsWith('.') ? head.length - 1 : -1);
  if (sentence >= charactersMax / 2) return head.slice(0, sentence + 1);
  const word = text.lastIndexOf(' ', charactersMax - 1);
  return `${text.slice(0, word > 0 ? word : charactersMax - 1)}…`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
