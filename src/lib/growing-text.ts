// A text built from many small pieces.

const JOINED_AT = 64;

/** `before + piece` would keep 32 bytes for each piece until somebody reads the whole, six times what words of a stream are long. */
export class GrowingText {
  #text: string;
  #pieces: string[] = [];

  constructor(text = '') {
    this.#text = text;
  }

  add(piece: string): void {
    if (this.#pieces.push(piece) === JOINED_AT) this.#join();
  }

  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    this.#text += this.#pieces.join('');
    this.#pieces = [];
  }
}
