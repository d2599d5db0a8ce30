// Requests to S3 as no SDK would send them: signed by code that the published examples hold to, with any path, headers and body.
import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { signatureHeaders } from '../../src/lib/sigv4.ts';
import type { S3Bench } from './harness.ts';

export interface S3Request {
  readonly method?: string;
  /** Path and query below the root of S3, as they are sent. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** In place of the SHA-256 of the body. */
  readonly payload?: string;
  readonly nowMs?: number;
  /** In place of what was signed; undefined: not sent. */
  readonly after?: { readonly path?: string; readonly headers?: Readonly<Record<string, string | undefined>> };
  readonly accessKeyId?: string;
}

export interface S3Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code of a failure; null: it is none, or has no body. */
  readonly code: string | null;
}

export const sha256 = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');

/** Signs and sends. */
export async function send({ root, key }: Pick<S3Bench, 'root' | 'key'>, sent: S3Request): Promise<S3Reply> {
  const {
    method = 'GET',
    body = '',
    payload = sha256(body),
    nowMs = Date.now(),
    after = {},
    accessKeyId = key.accessKeyId,
  } = sent;
  const host = new URL(root).host;
  const length = body.length === 0 && method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const own = { host, ...sent.headers };
  const signed = signatureHeaders(
    { method, url: sent.path, headers: own },
    { ...key, accessKeyId, region: 'us-east-1' },
    payload,
    nowMs,
  );
  const all = Object.entries({ ...length, ...own, ...signed, ...after.headers });
  const headers = Object.fromEntries(all.filter((pair): pair is [string, string] => pair[1] !== undefined));
  return exchange(root, method, after.path ?? sent.path, headers, body);
}

/** Sends it with exactly these headers. */
export function exchange(
  root: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = '',
): Promise<S3Reply> {
  const { hostname, port } = new URL(root);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, async (response) => {
      const told = await text(response);
      const code = /<Error>.*?<Code>([^<]*)<\/Code>/s.exec(told)?.[1] ?? null;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: told, code });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
