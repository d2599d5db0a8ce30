// Types for the used part of snappyjs, which ships none.
declare module 'snappyjs' {
  /** Throws for what is not snappy, and for what unfolds to more than `bytesMax`. */
  export function uncompress(compressed: Buffer, bytesMax: number): Buffer;
  export function compress(bytes: Buffer): Buffer;
}
