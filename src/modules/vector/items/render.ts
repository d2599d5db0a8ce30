// Vectors as JSON text. Numbers take long to write: between pieces of work other calls have their turn.
import { setImmediate as turn } from 'node:timers/promises';

const NUMBERS_PER_TURN = 1024;

/** Counts the numbers written and lets others go first now and then. */
export class NumberWriter {
  #written = 0;

  /** JSON array of the numbers of a stored embedding. */
  async write(embedding: Buffer): Promise<string> {
    const count = embedding.length / Float32Array.BYTES_PER_ELEMENT;
    this.#written += count;
    if (this.#written > NUMBERS_PER_TURN) {
      this.#written = 0;
      await turn();
    }
    // A copy: the buffer need not begin at a multiple of four.
    return `[${new Float32Array(new Uint8Array(embedding).buffer, 0, count).join(',')}]`;
  }

  /** Puts the pieces of an answer together, in a turn of its own: megabytes take as long as thousands of numbers. */
  async join(texts: readonly string[]): Promise<string> {
    if (this.#written === 0) return texts.join(',');
    await turn();
    const text = texts.join(',');
    await turn();
    return text;
  }
}
