// The Bind message, which carries a statement's values. The driver copies values into it, so one long upsert left garbage of twice its rows'
// size. In 60 upserts of 6 MB V8 then collected its whole heap 13 times instead of once. Here large values are sent uncopied. Wire format:
// PostgreSQL documentation, "Message Formats", Bind.
import type pg from 'pg';
import type { EncodedValue } from './statement.ts';

/** From here on a value is a chunk of its own. */
const OWN_CHUNK_FROM_BYTES = 8 * 1024;
const BIND = 0x42;
const TEXT = 0;
const BINARY = 1;
const NULL_LENGTH = -1;
/** Type, length, the name of the portal (none) and the ends of both names, two counts, the format of results (text, for all). */
const FRAME_BYTES = 1 + 4 + 1 + 1 + 2 + 2 + 4;
const PER_VALUE_BYTES = 2 + 4;

/** What is used of the driver's connection, which its types leave out. */
interface DriverConnection {
  readonly stream: { readonly writable: boolean; write(chunk: Buffer): boolean };
  bind(message: { readonly statement: string; readonly values: readonly EncodedValue[] }): void;
}

/** Makes a client write its Bind messages so; in everything else it stays the driver's. */
export function bindUncopied(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: DriverConnection };
  connection.bind = ({ statement, values }) => {
    if (!connection.stream.writable) return;
    for (const chunk of bindMessage(statement, values)) connection.stream.write(chunk);
  };
}

/** In the order to be sent. Buffers among the values must stay as they are until the statement is answered. */
export function bindMessage(statement: string, values: readonly EncodedValue[]): Buffer[] {
  const lengths = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const isOwnChunk = (i: number) => (lengths[i] as number) >= OWN_CHUNK_FROM_BYTES && typeof values[i] !== 'string';
  const framed = FRAME_BYTES + Buffer.byteLength(statement) + values.length * PER_VALUE_BYTES;
  const message = Buffer.allocUnsafe(lengths.reduce((sum, bytes, i) => sum + (isOwnChunk(i) ? 0 : bytes), framed));
  let at = message.writeUInt8(BIND, 0);
  at = message.writeInt32BE(
    lengths.reduce((sum, bytes) => sum + bytes, framed - 1),
    at,
  );
  at = message.writeUInt8(0, at);
  at += message.write(statement, at);
  at = message.writeUInt8(0, at);
  at = message.writeInt16BE(values.length, at);
  for (const value of values) at = message.writeInt16BE(typeof value === 'string' ? TEXT : BINARY, at);
  at = message.writeInt16BE(values.length, at);
  const chunks: Buffer[] = [];
  let from = 0;
  for (const [i, value] of values.entries()) {
    at = message.writeInt32BE(value === null ? NULL_LENGTH : (lengths[i] as number), at);
    if (value === null) continue;
    if (typeof value === 'string') at += message.write(value, at);
    else if (isOwnChunk(i)) {
      chunks.push(message.subarray(from, at), value);
      from = at;
    } else at += value.copy(message, at);
  }
  at = message.writeInt16BE(1, at);
  message.writeInt16BE(TEXT, at);
  chunks.push(message.subarray(from));
  return chunks;
}
