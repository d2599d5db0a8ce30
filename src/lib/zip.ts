// Writer of ZIP archives of already compressed files (APPNOTE 4.3): each is stored as it is. For less than 4 GiB and 65,535 files.
import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8_NAMES = 0x0800;
/** 1980-01-01: the same files make the same bytes. */
const DATE = 0x21;

/** Between two files others have their turn. */
export async function zipOf(entries: readonly ZipEntry[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, bytes } of entries) {
    const common = commonPart(crc32(bytes), bytes.length, Buffer.byteLength(name));
    const local = Buffer.concat([word32(LOCAL), common, Buffer.from(name)]);
    central.push(
      Buffer.concat([word32(CENTRAL), word16(VERSION), common, Buffer.alloc(10), word32(at), Buffer.from(name)]),
    );
    pieces.push(local, bytes);
    at += local.length + bytes.length;
    await turn();
  }
  const directory = Buffer.concat(central);
  const count = word16(entries.length);
  const end = [word32(END), word32(0), count, count, word32(directory.length), word32(at), word16(0)];
  return Buffer.concat([...pieces, directory, ...end]);
}

/** Version, flags, method, time, date, sum, both sizes, lengths of name and extra. */
function commonPart(sum: number, size: number, nameBytes: number): Buffer {
  const head = [VERSION, UTF8_NAMES, 0, 0, DATE].map(word16);
  return Buffer.concat([...head, word32(sum), word32(size), word32(size), word16(nameBytes), word16(0)]);
}

function word16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function word32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
