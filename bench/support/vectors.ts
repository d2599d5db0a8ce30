// Made-up embeddings for benchmarks: they gather around middles, as embeddings of texts do, and are the same in every run.

export class VectorSource {
  readonly #dimension: number;
  readonly #middles: Float32Array[];
  #state = 1;

  /** `middles`: how many places they gather around; each strays from its own as far as that is from nothing. */
  constructor(dimension: number, middles: number) {
    this.#dimension = dimension;
    this.#middles = Array.from({ length: middles }, () =>
      Float32Array.from({ length: dimension }, () => this.#normal()),
    );
  }

  next(): Float32Array<ArrayBuffer> {
    const middle = this.#middles[Math.floor(((this.#random() + 1) / 2) * this.#middles.length) % this.#middles.length];
    const vector = new Float32Array(this.#dimension);
    for (let i = 0; i < vector.length; i += 1) vector[i] = ((middle as Float32Array)[i] as number) + this.#normal();
    return vector;
  }

  #normal(): number {
    return this.#random() + this.#random() + this.#random();
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 31 - 1;
  }
}

export const base64 = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
