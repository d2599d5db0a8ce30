// Reads and writes of bytes in the asset store. A blob is stored in one piece, or in several when it is long; its row lists the pieces as packed
// names and lengths.

import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { AssetsPart } from '../assets/assets.ts';
import { available } from '../assets/assets.ts';
import type { CallContext } from '../core/callers/context.ts';
import type { Core } from '../core/core.ts';
import { type Checksum, type ChecksumName, checksumOf } from '../core/credentials/aws-checksums.ts';
import { problem } from '../problems/problem.ts';
import { AssetGone } from '../vendors/assets/port.ts';
import { PIECE_BYTES_MAX } from './limits.ts';

/** Prefix of all keys in the asset store that are pieces of blobs. */
export const PIECES = 'storage/';
const NAME_BYTES = 16;
const PACKED_BYTES = NAME_BYTES + 8;
/** A shorter blob is put at once, a longer one through a file. */
const AT_ONCE_BYTES = 64 * 1024;
const WRITTEN_AT_ONCE_BYTES = 512 * 1024;

export interface Piece {
  readonly name: string;
  readonly bytes: number;
}

export function newPieces(bytes: number, pieceBytesMax = PIECE_BYTES_MAX): Piece[] {
  const pieces: Piece[] = [];
  for (let left = bytes; left > 0; left -= pieceBytesMax) {
    pieces.push({ name: randomBytes(NAME_BYTES).toString('hex'), bytes: Math.min(left, pieceBytesMax) });
  }
  return pieces;
}

export function packPieces(pieces: readonly Piece[]): Buffer {
  const packed = Buffer.allocUnsafe(pieces.length * PACKED_BYTES);
  for (const [i, { name, bytes }] of pieces.entries()) {
    packed.write(name, i * PACKED_BYTES, 'hex');
    packed.writeBigInt64BE(BigInt(bytes), i * PACKED_BYTES + NAME_BYTES);
  }
  return packed;
}

export function unpackPieces(packed: Buffer): Piece[] {
  return Array.from({ length: packed.length / PACKED_BYTES }, (_, i) => {
    const at = i * PACKED_BYTES;
    return {
      name: packed.toString('hex', at, at + NAME_BYTES),
      bytes: Number(packed.readBigInt64BE(at + NAME_BYTES)),
    };
  });
}

/** Of an account's piece: two letters of its name make a folder. */
export const assetKeyOf = (accountId: string, { name }: Pick<Piece, 'name'>): string =>
  `${PIECES}${accountId}/${name.slice(0, 2)}/${name.slice(2)}`;

/** Whose bytes are kept under a key of `assetKeyOf`; null for any other key. */
export const accountIn = (assetKey: string): string | null =>
  /^storage\/([^/]+)\/[0-9a-f]{2}\/[0-9a-f]{30}$/.exec(assetKey)?.[1] ?? null;

/** Whose bytes, and where they are kept. */
export type Keeper = Pick<CallContext<AssetsPart & Pick<Core, 'log'>>, 'accountId' | 'core'>;

/** What was found of bytes while they were written. */
export interface Digests {
  /** Hexadecimal. */
  readonly md5: string;
  /** Base64, of the algorithms that were asked for. */
  readonly checksums: Readonly<Partial<Record<ChecksumName, string>>>;
}

/** `isUpTo`: the pieces are the most that may come. */
interface Writing {
  readonly algorithms?: readonly ChecksumName[];
  readonly isUpTo?: boolean;
}

/**
 * Writes the bytes that come to their pieces, and answers their digests once all of them would outlive a loss of power. Throws INVALID_REQUEST
 * for a body of another length than the pieces have, SERVICE_UNAVAILABLE where the store does not take them.
 */
export async function writePieces(
  { core: { assets, log }, accountId }: Keeper,
  pieces: readonly Piece[],
  source: AsyncIterable<Uint8Array>,
  { algorithms = [], isUpTo = false }: Writing = {},
): Promise<Digests & { readonly pieces: readonly Piece[] }> {
  const digests = new RunningDigests(algorithms);
  const reader = new Reader(source, digests, isUpTo);
  const written: Piece[] = [];
  try {
    for (const piece of pieces) {
      const before = reader.taken;
      const key = assetKeyOf(accountId, piece);
      const hasCome = () => reader.taken > before;
      if (piece.bytes <= AT_ONCE_BYTES) {
        const bytes = await reader.whole(piece.bytes);
        if (hasCome()) await available(log, () => assets.putNew(key, bytes));
      } else {
        const path = await assets.workPath();
        try {
          await writeFile(path, reader.take(piece.bytes));
          if (hasCome()) await available(log, () => assets.putFile(key, path));
        } finally {
          await rm(path, { force: true });
        }
      }
      if (!hasCome()) break;
      written.push({ ...piece, bytes: reader.taken - before });
    }
    await reader.requireEnd();
    return { ...digests.end(), pieces: written };
  } finally {
    await reader.close();
  }
}

/** What has come meanwhile is written at once, while more is read and its digests are made. */
async function writeFile(path: string, blocks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    let writing: Promise<void> = Promise.resolve();
    let waiting: Uint8Array[] = [];
    let bytes = 0;
    for await (const block of blocks) {
      waiting.push(block);
      bytes += block.length;
      if (bytes < WRITTEN_AT_ONCE_BYTES) continue;
      await writing;
      writing = writeAll(file, waiting);
      writing.catch(() => undefined);
      [waiting, bytes] = [[], 0];
    }
    await writing;
    await writeAll(file, waiting);
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, blocks: readonly Uint8Array[]): Promise<void> {
  const due = blocks.reduce((sum, block) => sum + block.length, 0);
  if (due === 0) return;
  const { bytesWritten } = await file.writev(blocks);
  if (bytesWritten === due) return;
  // The disk took a part: the rest, or why not.
  const rest = Buffer.concat(blocks).subarray(bytesWritten);
  for (let at = 0; at < rest.length; ) at += (await file.write(rest, at)).bytesWritten;
}

class RunningDigests {
  readonly #md5 = createHash('md5');
  readonly #checksums: readonly (readonly [ChecksumName, Checksum])[];

  constructor(algorithms: readonly ChecksumName[]) {
    this.#checksums = [...new Set(algorithms)].map((name) => [name, checksumOf(name)] as const);
  }

  update(block: Uint8Array): void {
    this.#md5.update(block);
    for (const [, checksum] of this.#checksums) checksum.update(block);
  }

  end(): Digests {
    return {
      md5: this.#md5.digest('hex'),
      checksums: Object.fromEntries(this.#checksums.map(([name, checksum]) => [name, checksum.digest()])),
    };
  }
}

/** The bytes of a source, so many at a time. */
class Reader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #digests: RunningDigests;
  readonly #isUpTo: boolean;
  #rest: Uint8Array = new Uint8Array();
  #taken = 0;

  constructor(source: AsyncIterable<Uint8Array>, digests: RunningDigests, isUpTo: boolean) {
    this.#source = source[Symbol.asyncIterator]();
    this.#digests = digests;
    this.#isUpTo = isUpTo;
  }

  get taken(): number {
    return this.#taken;
  }

  async *take(count: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        if (this.#isUpTo) return;
        throw incomplete();
      }
      const block = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(block.length);
      left -= block.length;
      this.#taken += block.length;
      this.#digests.update(block);
      yield block;
    }
  }

  async whole(count: number): Promise<Buffer> {
    const blocks: Uint8Array[] = [];
    for await (const block of this.take(count)) blocks.push(block);
    return Buffer.concat(blocks);
  }

  /** A proof of the body is completed by its end. */
  async requireEnd(): Promise<void> {
    while (this.#rest.length === 0) if (!(await this.#more())) return;
    throw problem('INVALID_REQUEST', { detail: 'body_too_long', message: 'The body is longer than announced.' });
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}

function incomplete() {
  return problem('INVALID_REQUEST', {
    detail: 'incomplete_body',
    message: 'The body ends before its announced length.',
  });
}

async function* partOf(whole: Promise<Buffer>, first: number, last: number): AsyncGenerator<Uint8Array> {
  yield (await whole).subarray(first, last + 1);
}

/** The bytes from `start` to `end`, both included. Throws SERVICE_UNAVAILABLE where the store does not give them now. */
export async function* readPieces(
  { core: { assets, log }, accountId }: Keeper,
  pieces: readonly Piece[],
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let from = 0;
  for (const piece of pieces) {
    const [first, last] = [Math.max(start - from, 0), Math.min(end - from, piece.bytes - 1)];
    from += piece.bytes;
    if (first > last) continue;
    const key = assetKeyOf(accountId, piece);
    const isShort = piece.bytes <= AT_ONCE_BYTES;
    const blocks = (isShort ? partOf(assets.readUnchanging(key), first, last) : assets.open(key, first, last))[
      Symbol.asyncIterator
    ]();
    try {
      let next = await available(log, () => blocks.next());
      for (; next.done !== true; next = await blocks.next()) yield next.value;
    } catch (error) {
      if (error instanceof AssetGone)
        throw problem('OBJECT_NOT_FOUND', { message: 'The object was deleted while it was read.' });
      throw error;
    } finally {
      await blocks.return?.();
    }
  }
}
