// Asset store in a bucket of S3 or a compatible service. An object appears complete or not at all. Long files are multipart uploads, which stay
// invisible until completed and are aborted when a part fails.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { OutboundClient } from '../http/port.ts';
import { AssetGone, type AssetStore, AssetsUnavailable, isAssetKey, requireAssetKey } from './port.ts';
import { type FilePart, type S3Bucket, S3Calls, shortText, tagOf } from './s3-calls.ts';
import { WorkFolder } from './work-folder.ts';

export interface S3Place extends S3Bucket {
  /** Before all keys; empty, or with a slash at its end. */
  readonly prefix: string;
  /** For files that are being made. */
  readonly workFolder: string;
  /** Longer files go in parts of so many bytes; tests take small ones. */
  readonly partBytes?: number;
}

const MARK = 'quartermaster-assets';
const LISTED_MAX = 1_000;
/** 10,000 parts are allowed, of 5 MiB and more. */
const PART_BYTES = 16 * 1024 * 1024;
const NOT_FOUND = 404;
const PRECONDITION_FAILED = 412;

export function s3Assets(place: S3Place, outbound: Pick<OutboundClient, 'send'>): AssetStore {
  return new S3Assets(place, outbound);
}

class S3Assets implements AssetStore {
  readonly #s3: S3Calls;
  readonly #prefix: string;
  readonly #partBytes: number;
  readonly #work: WorkFolder;

  constructor(
    { prefix, workFolder, partBytes = PART_BYTES, ...bucket }: S3Place,
    outbound: Pick<OutboundClient, 'send'>,
  ) {
    this.#s3 = new S3Calls(bucket, outbound);
    this.#prefix = prefix;
    this.#partBytes = partBytes;
    this.#work = new WorkFolder(workFolder);
  }

  workPath(): Promise<string> {
    return this.#work.newPath();
  }

  async putFile(key: string, path: string): Promise<void> {
    const to = this.#keyOf(key);
    const parts = await partsOf(path, this.#partBytes);
    const [only] = parts;
    if (only !== undefined && parts.length === 1) await this.#s3.text({ method: 'PUT', key: to, body: only });
    else if (only === undefined) await this.#s3.text({ method: 'PUT', key: to });
    else await this.#putParts(to, parts);
    await rm(path, { force: true });
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#s3.text({ method: 'PUT', key: this.#keyOf(key), body: bytes });
  }

  putNew(key: string, bytes: Uint8Array): Promise<void> {
    return this.put(key, bytes);
  }

  async *open(key: string, start: number, end: number): AsyncIterable<Uint8Array> {
    yield* await this.#get(key, { range: `bytes=${start}-${end}` });
  }

  async read(key: string): Promise<Buffer> {
    return buffer(await this.#get(key, {}));
  }

  async remove(key: string): Promise<void> {
    await this.#s3.text({ method: 'DELETE', key: this.#keyOf(key), also: [NOT_FOUND] });
  }

  async list(prefix: string, after: string, beforeMs: number): Promise<string[]> {
    let from = this.#prefix + after;
    for (;;) {
      const { xml } = await this.#s3.text({ method: 'GET', key: null, query: this.#listQuery(prefix, from) });
      const found = elementsOf(xml, 'Contents').map((each) => ({
        key: tagOf(each, 'Key') ?? '',
        changedMs: Date.parse(tagOf(each, 'LastModified') ?? ''),
      }));
      const old = found.filter(({ changedMs }) => changedMs < beforeMs);
      const keys = old
        .map(({ key }) => key.slice(this.#prefix.length))
        .filter((key) => isAssetKey(key) && key !== MARK);
      const last = found.at(-1)?.key;
      if (keys.length > 0 || last === undefined || tagOf(xml, 'IsTruncated') !== 'true') return keys;
      from = last;
    }
  }

  /** Parts of dead uploads are not seen, but take their place. */
  async removeUnfinished(beforeMs: number): Promise<void> {
    await this.#work.removeOld(beforeMs);
    const { xml } = await this.#s3.text({ method: 'GET', key: null, query: { uploads: '', prefix: this.#prefix } });
    for (const upload of elementsOf(xml, 'Upload')) {
      const [key, uploadId] = [tagOf(upload, 'Key'), tagOf(upload, 'UploadId')];
      const isOld = Date.parse(tagOf(upload, 'Initiated') ?? '') < beforeMs;
      if (isOld && key !== null && uploadId !== null) await this.#giveUp(key, uploadId);
    }
  }

  async readMark(): Promise<string | null> {
    try {
      return (await this.read(MARK)).toString('utf8');
    } catch (error) {
      if (error instanceof AssetGone) return null;
      throw error;
    }
  }

  async setMark(mark: string): Promise<string> {
    const headers = { 'if-none-match': '*' };
    const body = Buffer.from(mark);
    await this.#s3.text({ method: 'PUT', key: this.#keyOf(MARK), headers, body, also: [PRECONDITION_FAILED] });
    // Some services do not know the condition: what is there then is what counts.
    return (await this.read(MARK)).toString('utf8');
  }

  async #get(key: string, headers: Readonly<Record<string, string>>) {
    const { status, body } = await this.#s3.send({ method: 'GET', key: this.#keyOf(key), headers, also: [NOT_FOUND] });
    if (status !== NOT_FOUND) return body;
    const xml = (await shortText(body)) ?? '';
    throw tagOf(xml, 'Code') === 'NoSuchKey' ? new AssetGone(key) : this.#s3.failure(status, xml);
  }

  #listQuery(prefix: string, from: string): Record<string, string> {
    const query = { 'list-type': '2', 'max-keys': String(LISTED_MAX), prefix: this.#prefix + prefix };
    return from === '' ? query : { ...query, 'start-after': from };
  }

  async #putParts(key: string, parts: readonly FilePart[]): Promise<void> {
    const { xml } = await this.#s3.text({ method: 'POST', key, query: { uploads: '' } });
    const uploadId = tagOf(xml, 'UploadId');
    if (uploadId === null) throw new AssetsUnavailable('The service began an upload and did not say which.', true);
    try {
      const tags: string[] = [];
      for (const [i, body] of parts.entries()) {
        const query = { partNumber: String(i + 1), uploadId };
        const { headers } = await this.#s3.text({ method: 'PUT', key, query, body });
        tags.push(headers.etag ?? '');
      }
      const list = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
      const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      await this.#s3.text({ method: 'POST', key, query: { uploadId }, body });
    } catch (error) {
      // When that fails too, removeUnfinished sees to it.
      await this.#giveUp(key, uploadId).catch(() => undefined);
      throw error;
    }
  }

  async #giveUp(key: string, uploadId: string): Promise<void> {
    await this.#s3.text({ method: 'DELETE', key, query: { uploadId }, also: [NOT_FOUND] });
  }

  #keyOf(key: string): string {
    return this.#prefix + requireAssetKey(key);
  }
}

/** With the digest of each: the service compares what arrives with it. */
async function partsOf(path: string, partBytes: number): Promise<FilePart[]> {
  const { size } = await stat(path);
  const parts: FilePart[] = [];
  for (let start = 0; start < size; start += partBytes) {
    const bytes = Math.min(partBytes, size - start);
    const digest = createHash('sha256');
    for await (const piece of createReadStream(path, { start, end: start + bytes - 1 })) digest.update(piece as Buffer);
    parts.push({ path, start, bytes, sha256: digest.digest('hex') });
  }
  return parts;
}

function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner]) => inner as string);
}
