// pgvector's binary form of a vector: dimension and a reserved word as int16, then big-endian f32 (vector_recv, vector_send).
const HEAD_BYTES = 4;
const ARRAY_HEAD_BYTES = 20;
const F32_BYTES = 4;

/** @param bytes little-endian f32 */
export function encodeVector(bytes: Buffer): Buffer {
  const encoded = Buffer.allocUnsafe(HEAD_BYTES + bytes.length);
  writeVector(encoded, 0, bytes);
  return encoded;
}

/** An array of vectors in binary form (array_recv); `oid` is that of the type `vector`, which each database numbers itself. */
export function encodeVectors(oid: number, all: readonly Buffer[]): Buffer {
  const bytes = all.reduce((sum, one) => sum + 4 + HEAD_BYTES + one.length, ARRAY_HEAD_BYTES);
  const encoded = Buffer.allocUnsafe(bytes);
  encoded.writeInt32BE(1, 0);
  encoded.writeInt32BE(0, 4);
  encoded.writeUInt32BE(oid, 8);
  encoded.writeInt32BE(all.length, 12);
  encoded.writeInt32BE(1, 16);
  let at = ARRAY_HEAD_BYTES;
  for (const one of all) {
    encoded.writeInt32BE(HEAD_BYTES + one.length, at);
    writeVector(encoded, at + 4, one);
    at += 4 + HEAD_BYTES + one.length;
  }
  return encoded;
}

/** @param sent as vector_send gives it */
export function decodeVector(sent: Buffer): Float32Array {
  const bytes = Buffer.from(new Uint8Array(sent.subarray(HEAD_BYTES)).buffer);
  bytes.swap32();
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / F32_BYTES);
}

function writeVector(to: Buffer, at: number, bytes: Buffer): void {
  to.writeInt16BE(bytes.length / F32_BYTES, at);
  to.writeInt16BE(0, at + 2);
  bytes.copy(to, at + HEAD_BYTES);
  to.subarray(at + HEAD_BYTES, at + HEAD_BYTES + bytes.length).swap32();
}
