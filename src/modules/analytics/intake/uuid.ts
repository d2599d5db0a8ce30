// Identity of an event in 16 bytes: its UUID, or the hash of any other text.
import { hash } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

export function uuidBytes(text: string): Buffer {
  if (UUID.test(text)) return Buffer.from(text.replaceAll('-', ''), 'hex');
  const bytes = hash('sha256', text, 'buffer').subarray(0, 16);
  // Version 8, variant 2 (RFC 9562): no client sends such a one by chance.
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes;
}

export function uuidText(bytes: Uint8Array, at = 0): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset + at, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
