// Interning of a batch's texts: columns hold numbers, and each text is stored once.

export const NONE = -1;

/** IDs in hex, each with its number. Most come once: only one that comes twice in a row is known again. */
export class Listed {
  readonly texts: string[] = [];
  #last: string | null = null;

  /** `NONE` for null. */
  id(text: string | null): number {
    if (text === null) return NONE;
    if (text !== this.#last) this.texts.push(text);
    this.#last = text;
    return this.texts.length - 1;
  }
}

/** Distinct texts, each with its number. */
export class Interned {
  readonly texts: string[] = [];
  readonly #ids = new Map<string, number>();

  id(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.texts.length;
      this.texts.push(text);
      this.#ids.set(text, id);
    }
    return id;
  }
}
