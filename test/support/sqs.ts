// Requests to SQS as no SDK would send them: signed (version 4) by code of the tests' own, in JSON or as a form, and what the answers must hold.
import { createHash, createHmac } from 'node:crypto';

export interface SqsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface SqsRequest {
  /** Path and query. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface SigningOptions {
  readonly service?: string;
  readonly region?: string;
  readonly nowMs?: number;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

/** The request's headers with those that sign it. The query, when there is one, must be in canonical order. */
export function signedHeaders(
  url: string,
  { path = '/sqs', headers, body }: SqsRequest,
  { accessKeyId, secretAccessKey }: SqsKey,
  { service = 'sqs', region = 'us-east-1', nowMs = Date.now() }: SigningOptions = {},
): Record<string, string> {
  const instant = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${instant.slice(0, 8)}/${region}/${service}/aws4_request`;
  const all: Record<string, string> = { ...headers, host: new URL(url).host, 'x-amz-date': instant };
  const names = Object.keys(all).sort();
  const [pathname, query = ''] = path.split('?');
  const lines = names.map((name) => `${name}:${all[name]}`);
  const canonical = ['POST', pathname, query, ...lines, '', names.join(';'), sha256(body)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${instant}\n${scope}\n${sha256(canonical)}`).toString('hex');
  const credential = `Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, 'x-amz-date': instant, authorization: `AWS4-HMAC-SHA256 ${credential}` };
}

/** A request in JSON, as SDKs of today send them. A string or bytes are sent as they are. */
export function jsonRequest(action: string, input: unknown, headers: Record<string, string> = {}): SqsRequest {
  return {
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}`, ...headers },
    body: typeof input === 'string' || Buffer.isBuffer(input) ? input : JSON.stringify(input),
  };
}

/** A request as a form, as SDKs before 2023 send them. Pairs, not an object: names may come twice. */
export function formRequest(pairs: string | readonly (readonly [string, string])[]): SqsRequest {
  const body = typeof pairs === 'string' ? pairs : new URLSearchParams(pairs.map(([...pair]) => pair)).toString();
  return { headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }, body };
}

export interface SqsReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly json: any;
  /** The code of a failure, in either protocol; null: it is none. */
  readonly code: string | null;
}

/** Sends the request with exactly these headers. */
export async function postSqs(url: string, { path = '/sqs', headers, body }: SqsRequest): Promise<SqsReply> {
  const response = await fetch(url + path, { method: 'POST', headers, body: body as BodyInit });
  const text = await response.text();
  const json = text.startsWith('{') ? JSON.parse(text) : null;
  const inXml = /<ErrorResponse[ >].*?<Code>([^<]*)<\/Code>/s.exec(text)?.[1];
  const code = json === null ? inXml : json.__type?.split('#').at(-1);
  return { status: response.status, headers: response.headers, text, json, code: code ?? null };
}

/** Signs and sends. */
export function callSqs(url: string, request: SqsRequest, key: SqsKey, options?: SigningOptions): Promise<SqsReply> {
  return postSqs(url, { ...request, headers: signedHeaders(url, request, key, options) });
}

/** Text of XML with its entities undone. */
export function textOfXml(escaped: string): string {
  const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return escaped.replaceAll(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (_, entity: string) => {
    if (!entity.startsWith('#')) return names[entity] ?? '';
    return String.fromCodePoint(Number(entity.startsWith('#x') ? `0x${entity.slice(2)}` : entity.slice(1)));
  });
}

/** The texts of all elements with this name in an answer in XML. */
export function elements(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'));
  return [...found].map(([, text = '']) => textOfXml(text));
}

export interface SqsAttribute {
  readonly DataType?: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: Uint8Array | undefined;
}

/** MD5 of message attributes (SQS Developer Guide, "Calculating the MD5 message digest for message attributes"). */
export function md5OfAttributes(attributes: Readonly<Record<string, SqsAttribute>>): string {
  const digest = createHash('md5');
  const add = (value: string | Uint8Array) => {
    const bytes = Buffer.from(value as Uint8Array);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    digest.update(length).update(bytes);
  };
  for (const name of Object.keys(attributes).sort()) {
    const { DataType = '', StringValue, BinaryValue } = attributes[name] as SqsAttribute;
    add(name);
    add(DataType);
    digest.update(Buffer.from([BinaryValue === undefined ? 1 : 2]));
    add(BinaryValue ?? StringValue ?? '');
  }
  return digest.digest('hex');
}
