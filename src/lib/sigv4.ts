// AWS Signature Version 4 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html), in the header and in the query: reads
// the signature of a received request, and signs outgoing ones. Both canonicalize a request in the same way.
import { isUtf8 } from 'node:buffer';
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const CLOCK_OFF_MS_MAX = 15 * 60_000;
const PRESIGNED_SECONDS_MAX = 604_800;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^,\s]+) *, *SignedHeaders=([^,\s]+) *, *Signature=([0-9a-f]{64}) *$/;
const NOT_ASCII = /[^\0-\x7f]/;
const INSTANT = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

export interface SignedHead {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

export interface SigV4Options {
  /** Services that the scope of the signature may name. */
  readonly services: readonly string[];
  /** SHA-256 of the body in hexadecimal, where the protocol signs it without telling it. */
  readonly bodySha256?: string;
  readonly nowMs?: number;
}

/** What a request says about its signature. */
export interface Signed {
  readonly accessKeyId: string;
  /** `20130524/us-east-1/s3/aws4_request` */
  readonly scope: string;
  readonly instant: string;
  readonly signature: string;
  /** Of the body: hexadecimal SHA-256, or what AWS has in its place, such as `UNSIGNED-PAYLOAD`. */
  readonly payload: string;
  /** Null: what must be there is not. */
  readonly canonicalRequest: string | null;
  readonly isInTime: boolean;
}

/** Who signs, and for which region and service. */
export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** `s3` when absent. */
  readonly service?: string;
}

/**
 * The headers that sign a request; all of `headers` are signed, `host` must be among them.
 * @param payload SHA-256 of the body in hexadecimal, or what AWS has in its place.
 */
export function signatureHeaders(
  { method, url, headers }: SignedHead,
  { accessKeyId, secretAccessKey, region, service = 's3' }: AwsKey,
  payload: string,
  nowMs: number,
): Record<string, string> {
  const instant = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const added = { 'x-amz-content-sha256': payload, 'x-amz-date': instant };
  const all = { ...headers, ...added };
  const credential = `${accessKeyId}/${instant.slice(0, 8)}/${region}/${service}/aws4_request`;
  const names = Object.keys(all).sort().join(';');
  const authorization = (signature: string) =>
    `${ALGORITHM} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  const unsigned = { method, url, headers: { ...all, authorization: authorization('0'.repeat(64)) } };
  const signed = signedOf(unsigned, { services: [service], nowMs });
  const signature = signed === null ? null : signatureOf(signed, signingKey(secretAccessKey, signed.scope));
  if (signature === null) throw new TypeError('the request cannot be signed');
  return { ...added, authorization: authorization(signature.toString('hex')) };
}

/**
 * The address that asks for the same without a header of its own, for `seconds`: path and query. All of `headers` must be sent with it.
 */
export function presignedUrl(
  { method, url, headers }: SignedHead,
  { accessKeyId, secretAccessKey, region }: AwsKey,
  seconds: number,
  nowMs: number,
): string {
  const instant = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const query = {
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId}/${instant.slice(0, 8)}/${region}/s3/aws4_request`,
    'X-Amz-Date': instant,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': Object.keys(headers).sort().join(';'),
  };
  const asked = `${url}?${canonicalQuery(Object.entries(query))}`;
  const signed = signedOf(
    { method, url: `${asked}&X-Amz-Signature=${'0'.repeat(64)}`, headers },
    { services: ['s3'], nowMs },
  );
  const signature = signed === null ? null : signatureOf(signed, signingKey(secretAccessKey, signed.scope));
  if (signature === null) throw new TypeError('the address cannot be signed');
  return `${asked}&X-Amz-Signature=${signature.toString('hex')}`;
}

/**
 * The fields of a form that says the same without a key, for `seconds`: its policy and signature. `conditions`: of the policy, beside those of
 * the fields answered here.
 */
export function signedPost(
  conditions: readonly object[],
  { accessKeyId, secretAccessKey, region }: AwsKey,
  seconds: number,
  nowMs: number,
): Record<string, string> {
  const instant = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${instant.slice(0, 8)}/${region}/s3/aws4_request`;
  const fields = {
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': instant,
  };
  const named = Object.entries(fields).map(([name, value]) => ({ [name]: value }));
  const document = {
    expiration: new Date(nowMs + seconds * 1_000).toISOString(),
    conditions: [...conditions, ...named],
  };
  const policy = Buffer.from(JSON.stringify(document)).toString('base64');
  const signature = textSignature(policy, signingKey(secretAccessKey, scope));
  return { ...fields, Policy: policy, 'X-Amz-Signature': signature };
}

/** `key`: signingKey of the secret and the scope. */
export function isSignedBy(signed: Signed, key: KeyObject): boolean {
  const due = signatureOf(signed, key);
  return due !== null && timingSafeEqual(due, Buffer.from(signed.signature, 'hex'));
}

/** Null: what must be signed is not there. */
function signatureOf({ canonicalRequest, instant, scope }: Signed, key: KeyObject): Buffer | null {
  if (canonicalRequest === null) return null;
  const text = `${ALGORITHM}\n${instant}\n${scope}\n${hash('sha256', canonicalRequest)}`;
  return createHmac('sha256', key).update(text).digest();
}

/** Of a text by itself, such as the policy of a form. `key`: signingKey of the secret and the scope. */
export function textSignature(text: string, key: KeyObject): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** By version 2: in base64. */
export function version2Signature(text: string, secretAccessKey: string): string {
  return createHmac('sha1', secretAccessKey).update(text).digest('base64');
}

/** A key object, since createHmac takes five times as long with bytes. */
export function signingKey(secret: string, scope: string): KeyObject {
  const bytes = scope
    .split('/')
    .reduce<Buffer>((key, part) => createHmac('sha256', key).update(part).digest(), Buffer.from(`AWS4${secret}`));
  return createSecretKey(bytes);
}

/** Null: the request is not signed so. */
export function signedOf(head: SignedHead, options: SigV4Options): Signed | null {
  const [path = '', queryText = ''] = head.url.split(/\?(.*)/s, 2);
  const query = pairsOf(queryText);
  const parts = inHeader(head) ?? inQuery(query);
  if (parts === null) return null;
  const [accessKeyId = '', date = '', region = '', service = '', end = '', ...more] = parts.credential.split('/');
  const names = parts.names.split(';');
  const { headers } = head;
  const unsigned = Object.keys(headers).some((name) => name.startsWith('x-amz-') && !names.includes(name));
  const isSound =
    options.services.includes(service) &&
    end === 'aws4_request' &&
    more.length === 0 &&
    parts.instant.startsWith(date) &&
    names.includes('host') &&
    !unsigned &&
    names.every((name) => headers[name] !== undefined);
  const sentHash = headers['x-amz-content-sha256'] as string | undefined;
  const payload = parts.isPresigned ? (sentHash ?? 'UNSIGNED-PAYLOAD') : (sentHash ?? options.bodySha256 ?? '');
  const canonical = [
    head.method,
    service === 's3' ? canonicalPath(path) : encode(path).replaceAll('%2F', '/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${signedValue(String(headers[name]))}`),
    '',
    parts.names,
    payload,
  ];
  return {
    accessKeyId,
    scope: `${date}/${region}/${service}/${end}`,
    instant: parts.instant,
    signature: parts.signature,
    payload,
    canonicalRequest: isSound ? canonical.join('\n') : null,
    isInTime: isInTime(parts, options.nowMs ?? Date.now()),
  };
}

/** A header as its client has it: bytes of UTF-8, which Node reads as Latin-1, or what some clients send as Latin-1. */
function signedValue(value: string): string {
  const trimmed = value.trim().replaceAll(/ +/g, ' ');
  if (!NOT_ASCII.test(trimmed)) return trimmed;
  const bytes = Buffer.from(trimmed, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : trimmed;
}

interface Parts {
  readonly credential: string;
  readonly names: string;
  readonly signature: string;
  readonly instant: string;
  readonly isPresigned: boolean;
  readonly lifeSeconds: number;
}

function inHeader({ headers }: SignedHead): Parts | null {
  const [, credential, names, signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  if (credential === undefined || names === undefined || signature === undefined) return null;
  const instant = String(headers['x-amz-date'] ?? '');
  return { credential, names, signature, instant, isPresigned: false, lifeSeconds: 0 };
}

function inQuery(query: readonly Pair[]): Parts | null {
  const of = (name: string) => query.find(([each]) => each === name)?.[1] ?? '';
  const signature = of('X-Amz-Signature');
  if (of('X-Amz-Algorithm') !== ALGORITHM || !/^[0-9a-f]{64}$/.test(signature)) return null;
  const lifeSeconds = /^\d{1,6}$/.test(of('X-Amz-Expires')) ? Number(of('X-Amz-Expires')) : 0;
  const parts = { credential: of('X-Amz-Credential'), names: of('X-Amz-SignedHeaders'), instant: of('X-Amz-Date') };
  return { ...parts, signature, isPresigned: true, lifeSeconds };
}

function isInTime({ instant, isPresigned, lifeSeconds }: Parts, nowMs: number): boolean {
  const [, year, month, day, hours, minutes, seconds] = INSTANT.exec(instant) ?? [];
  const signedMs = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(signedMs) || signedMs - nowMs > CLOCK_OFF_MS_MAX) return false;
  if (!isPresigned) return nowMs - signedMs <= CLOCK_OFF_MS_MAX;
  return lifeSeconds >= 1 && lifeSeconds <= PRESIGNED_SECONDS_MAX && nowMs - signedMs <= lifeSeconds * 1000;
}

type Pair = readonly [name: string, value: string];

function pairsOf(query: string): Pair[] {
  const pairs = query.split('&').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
    return [decode(name), decode(value)];
  });
}

function canonicalQuery(query: readonly Pair[]): string {
  const pairs = query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)]);
  // By name, and only then by value: `file=` comes before `file-name=`, although `=` comes after `-`.
  const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  pairs.sort(([a = '', x = ''], [b = '', y = '']) => order(a, b) || order(x, y));
  return pairs.map((pair) => pair.join('=')).join('&');
}

/** However the client has written it. */
function canonicalPath(path: string): string {
  return path.split('/').map(decode).map(encode).join('/');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not written as a signature needs it: it then matches none.
    return text;
  }
}

/** RFC 3986: all but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
