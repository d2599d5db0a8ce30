// Numeric arrays that grow by half, and a hash of bytes.

type NumberArray =
  | Uint8Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** An array of the same kind with room for `length` elements and the same content; itself when it has it already. */
export function withRoom<T extends NumberArray>(array: T, length: number): T {
  if (array.length >= length) return array;
  const grown = new (array.constructor as new (length: number) => T)(
    Math.max(length, Math.ceil(array.length * 1.5), 8),
  );
  grown.set(array);
  return grown;
}

/** A hash of bytes (32-bit FNV-1a with a final mix, MurmurHash3's). */
export function hashBytes(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (let i = from; i < to; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return mix(hash);
}

export function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
