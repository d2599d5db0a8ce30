// A service of S3 as a real HTTP server, for one bucket: it checks signatures and bodies by the code that the service itself checks them with, and
// does what the script says: fail, fall silent, lose the connection.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { awsBodyProof } from '../../src/core/credentials/aws-body.ts';
import { isSignedBy, signedOf, signingKey } from '../../src/lib/sigv4.ts';

export const KEY = { accessKeyId: 'AKIAQUARTERMASTER', secretAccessKey: 'a secret of tests/with+signs' };
const BUCKET = 'videos';
const REGION = 'eu-west-1';

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface Stored {
  readonly bytes: Buffer;
  readonly changedMs: number;
}

interface Upload {
  readonly key: string;
  readonly begunMs: number;
  readonly parts: Map<number, Stored>;
}

export interface S3Request {
  readonly method: string;
  readonly host: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** What happens in place of an answer. */
export type S3Fault = 'silent' | 'reset' | { readonly status: number; readonly code: string };

export class S3Double {
  readonly objects = new Map<string, Stored>();
  readonly uploads = new Map<string, Upload>();
  readonly requests: S3Request[] = [];
  /** Asked before each answer; null: it is answered as it should be. */
  fault: (request: S3Request) => S3Fault | null = () => null;
  /** Of what is put from now on. */
  nowMs: () => number = Date.now;
  readonly #server = createServer((req, res) => void this.#answer(req, res));
  #uploads = 0;

  static async start(): Promise<S3Double> {
    const double = new S3Double();
    await new Promise<void>((resolve) => void double.#server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Settings of a service that keeps its videos here. */
  env(prefix = 'made'): Record<string, string> {
    return {
      ASSETS_URL: `s3://${BUCKET}/${prefix}?endpoint=${encodeURIComponent(this.endpoint)}&region=${REGION}`,
      ASSETS_ACCESS_KEY_ID: KEY.accessKeyId,
      ASSETS_SECRET_ACCESS_KEY: KEY.secretAccessKey,
    };
  }

  /** The same for the store alone. */
  place(over: { readonly prefix?: string; readonly endpoint?: string; readonly pathStyle?: boolean } = {}) {
    return { bucket: BUCKET, region: REGION, prefix: '', endpoint: this.endpoint, pathStyle: true, ...KEY, ...over };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '', 'http://any');
    const { method = '', headers } = req;
    const { host = '' } = headers;
    const path = url.pathname.slice(1).split('/');
    const [bucket, ...rest] = host.startsWith(`${BUCKET}.`) ? [BUCKET, ...path] : path;
    const request: S3Request = { method, host, key: rest.join('/'), query: url.searchParams, headers };
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === 'silent') return;
    if (fault === 'reset') {
      res.destroy();
      return;
    }
    const reply = fault === null ? await this.#reply(req, request, bucket) : refusal(fault.status, fault.code);
    res.writeHead(reply.status, reply.headers).end(reply.body);
  }

  async #reply(req: IncomingMessage, request: S3Request, bucket: string | undefined): Promise<Reply> {
    const { method, headers } = request;
    const signed = signedOf({ method, url: req.url ?? '', headers }, { services: ['s3'] });
    if (signed === null || !signed.isInTime) return refusal(403, 'AccessDenied');
    if (signed.accessKeyId !== KEY.accessKeyId) return refusal(403, 'InvalidAccessKeyId');
    if (!isSignedBy(signed, signingKey(KEY.secretAccessKey, signed.scope)))
      return refusal(403, 'SignatureDoesNotMatch');
    if (signed.scope.split('/')[1] !== REGION) return refusal(400, 'AuthorizationHeaderMalformed');
    if (bucket !== BUCKET) return refusal(404, 'NoSuchBucket');
    const proof = awsBodyProof({ ...signed, key: signingKey(KEY.secretAccessKey, signed.scope) }, headers);
    if (proof === null) return refusal(400, 'XAmzContentSHA256Mismatch');
    const body: Buffer[] = [];
    try {
      for await (const piece of proof.read(req as AsyncIterable<Buffer>)) body.push(piece);
    } catch {
      return refusal(400, 'XAmzContentSHA256Mismatch');
    }
    return this.#do(request, Buffer.concat(body));
  }

  #do(request: S3Request, body: Buffer): Reply {
    const { method, key, query } = request;
    if (key === '') return query.has('uploads') ? this.#listUploads() : this.#list(query);
    if (query.has('uploads') || query.has('uploadId')) return this.#upload(request, body);
    if (method === 'GET') return this.#get(request);
    if (method === 'PUT') {
      if (request.headers['if-none-match'] === '*' && this.objects.has(key)) return refusal(412, 'PreconditionFailed');
      this.objects.set(key, { bytes: body, changedMs: this.nowMs() });
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    this.objects.delete(key);
    return { status: 204 };
  }

  #get({ key, headers }: S3Request): Reply {
    const found = this.objects.get(key);
    if (found === undefined) return refusal(404, 'NoSuchKey');
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (start === undefined || end === undefined) return { status: 200, body: found.bytes };
    const range = { 'content-range': `bytes ${start}-${end}/${found.bytes.length}` };
    return { status: 206, headers: range, body: found.bytes.subarray(Number(start), Number(end) + 1) };
  }

  #list(query: URLSearchParams): Reply {
    const after = query.get('start-after') ?? '';
    const all = [...this.objects].filter(([key]) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
    const page = all.slice(0, Number(query.get('max-keys') ?? 1_000));
    const entries = page.map(
      ([key, { changedMs }]) =>
        `<Contents><Key>${key}</Key><LastModified>${new Date(changedMs).toISOString()}</LastModified></Contents>`,
    );
    const isTruncated = page.length < all.length;
    return xml(`<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${entries.join('')}</ListBucketResult>`);
  }

  #listUploads(): Reply {
    const entries = [...this.uploads].map(
      ([id, { key, begunMs }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${new Date(begunMs).toISOString()}</Initiated></Upload>`,
    );
    return xml(`<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`);
  }

  #upload({ method, key, query }: S3Request, body: Buffer): Reply {
    if (query.has('uploads')) {
      this.#uploads += 1;
      const id = `upload-${this.#uploads}`;
      this.uploads.set(id, { key, begunMs: this.nowMs(), parts: new Map() });
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    const id = query.get('uploadId') ?? '';
    const upload = this.uploads.get(id);
    if (upload === undefined || upload.key !== key) return refusal(404, 'NoSuchUpload');
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), { bytes: body, changedMs: this.nowMs() });
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    this.uploads.delete(id);
    return method === 'DELETE' ? { status: 204 } : this.#complete(upload, body);
  }

  #complete({ key, parts }: Upload, body: Buffer): Reply {
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)];
    const chosen = named.map(([, number, tag]) => ({ part: parts.get(Number(number)), tag }));
    if (chosen.length === 0 || chosen.some(({ part, tag }) => part === undefined || tagOf(part.bytes) !== tag))
      return refusal(200, 'InvalidPart');
    const bytes = Buffer.concat(chosen.map(({ part }) => (part as Stored).bytes));
    this.objects.set(key, { bytes, changedMs: this.nowMs() });
    return xml('<CompleteMultipartUploadResult/>');
  }
}

function tagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function xml(text: string, status = 200): Reply {
  return { status, headers: { 'content-type': 'application/xml' }, body: `<?xml version="1.0"?>${text}` };
}

/** AWS tells some failures with 200. */
function refusal(status: number, code: string): Reply {
  return xml(`<Error><Code>${code}</Code></Error>`, status);
}
