// Bodies that may be large. They are read and checked like every other body, but large ones in a worker thread, away from other calls. The
// thread's result is small, or lies in buffers that are transferred without a copy.

export interface Reduced {
  /** Takes the place of the input in `run`. Must survive structured cloning. */
  readonly value: object;
  /** Buffers of `value` that are moved, not copied. */
  readonly transfer: readonly ArrayBuffer[];
  /** What the caller is to be told beside the answer. */
  readonly warnings?: readonly string[];
}

/** What an input came with. */
export interface BulkSource {
  /** The body. */
  readonly text: string;
  /** As it was sent: whether it is a valid one is seen later. */
  readonly idempotencyKey: string | null;
}

/** Of a capability with such an input. */
export interface BulkBody<Input = unknown> {
  /** URL of the file that exports the capability: a worker loads it. */
  readonly source: string;
  /** Longer bodies take a thread, when it is not the bound of all. */
  readonly hereBytesMax?: number;
  /** Packs an input that the schema has let pass. Throws the Problems that only a look at each value can find. */
  reduce(input: Input, source: BulkSource): Reduced;
}
