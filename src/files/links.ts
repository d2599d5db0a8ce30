// Signed links to files that calls have made. They need no key and expire; the signature covers every field. A file's type is part of its name.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Core } from '../core/core.ts';
import { newId } from '../lib/ids.ts';
import { problem } from '../problems/problem.ts';

/** What keys of made files begin with in the asset store. */
export const MADE = 'made/';

/** By the ending of a name. */
const contentTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  zip: 'application/zip',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  tiff: 'image/tiff',
  svg: 'image/svg+xml',
  bin: 'application/octet-stream',
};
const namePattern = /^(file_[0-9A-Za-z]{20,40})\.([a-z]{3,4})$/;
const accountPattern = /^[A-Za-z0-9_-]{1,100}$/;
const FILENAME_CHARACTERS_MAX = 100;

/** What a link says. */
export interface LinkedFile {
  readonly accountId: string;
  /** `file_….pdf` */
  readonly name: string;
  readonly filename: string;
  readonly length: number;
  readonly endMs: number;
}

/** A name that nobody can guess. */
export function newFileName(contentType: string): string {
  const bare = contentType.split(';')[0];
  const found = Object.entries(contentTypes).find(([, type]) => type.split(';')[0] === bare);
  return `${newId('file_')}.${found?.[0] ?? 'bin'}`;
}

export function contentTypeOf(name: string): string {
  return contentTypes[namePattern.exec(name)?.[2] ?? 'bin'] ?? 'application/octet-stream';
}

export class FileLinks {
  readonly #key: Buffer;
  readonly #baseUrl: string;

  constructor({ secrets, baseUrl }: Pick<Core, 'secrets' | 'baseUrl'>) {
    this.#key = secrets.derive('file-links', 32);
    this.#baseUrl = baseUrl;
  }

  link(file: LinkedFile): string {
    const said = { ...file, filename: tidy(file.filename), endMs: Math.floor(file.endMs / 1_000) * 1_000 };
    const query = new URLSearchParams({
      as: said.filename,
      bytes: String(said.length),
      exp: String(said.endMs / 1_000),
      sig: `${this.#mac(said).toString('base64url')}.${said.accountId}`,
    });
    return `${this.#baseUrl}/v1/files/${said.name}?${query}`;
  }

  /** Throws NOT_FOUND for what is no link of ours, LINK_EXPIRED for a signature that does not fit. Whether its time is over is for the caller. */
  read(name: string, query: URLSearchParams): LinkedFile {
    if (!namePattern.test(name)) throw problem('NOT_FOUND');
    const [mac = '', accountId = ''] = (query.get('sig') ?? '').split('.');
    const [seconds, length] = [query.get('exp') ?? '', query.get('bytes') ?? ''];
    if (!/^\d{1,12}$/.test(seconds) || !/^\d{1,12}$/.test(length) || !accountPattern.test(accountId))
      throw problem('LINK_EXPIRED');
    const filename = query.get('as') ?? '';
    const said = { accountId, name, filename, length: Number(length), endMs: Number(seconds) * 1_000 };
    const given = Buffer.from(mac, 'base64url');
    const right = this.#mac(said);
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw problem('LINK_EXPIRED');
    return said;
  }

  #mac({ accountId, name, filename, length, endMs }: LinkedFile): Buffer {
    return createHmac('sha256', this.#key).update([accountId, name, length, endMs, filename].join('\n')).digest();
  }
}

/** Fit for a header: letters, digits and a few marks. */
function tidy(filename: string): string {
  const plain = filename.replaceAll(/[^A-Za-z0-9._ -]/g, '_').replace(/^[. ]+/, '');
  return plain.slice(-FILENAME_CHARACTERS_MAX) || 'file';
}
