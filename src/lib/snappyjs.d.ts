// What of snappyjs is used; it brings no types.
declare module 'snappyjs' {
  /** Throws for what is not snappy, and for what unfolds to more than `bytesMax`. */
  export function uncompress(compressed: Buffer, bytesMax: number): Buffer;
  export function compress(bytes: Buffer): Buffer;
}
