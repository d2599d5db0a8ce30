// Signatures as no SDK makes them. Few in one service: 20 failed logins in a minute shut an address out.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secretAccessKey } from '../../src/core/credentials/sigv4.ts';
import { secretHash } from '../../src/core/keys/api-key.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { openRaw } from '../support/raw.ts';
import { callSqs, jsonRequest, postSqs, type SqsReply, type SqsRequest, signedHeaders } from '../support/sqs.ts';
import { SqsBench } from './harness.ts';

let bench: SqsBench;
let url: string;
beforeAll(async () => {
  bench = await SqsBench.start();
  url = await bench.create('signed');
});
afterAll(() => bench.stop());

const MINUTE_MS = 60_000;
const REFUSED = [403, 'SignatureDoesNotMatch'];
const list = jsonRequest('ListQueues', {});
const send = (body: string) => jsonRequest('SendMessage', { QueueUrl: url, MessageBody: body });
const signed = (request: SqsRequest) => ({ ...request, headers: signedHeaders(bench.url, request, bench.key) });
const told = ({ status, code }: SqsReply) => [status, code];

test('a signature is taken from any region, and from a clock that is off by less than 15 minutes', async () => {
  for (const options of [{ region: 'eu-west-1' }, { region: 'elasticmq' }, { nowMs: Date.now() - 14 * MINUTE_MS }])
    expect((await bench.raw(list, options)).status).toBe(200);
});

test.each<[string, () => Promise<SqsReply>]>([
  ['by another secret', () => callSqs(bench.url, list, { ...bench.key, secretAccessKey: 'x'.repeat(40) })],
  ['for S3', () => bench.raw(list, { service: 's3' })],
  ['for another service', () => bench.raw(list, { service: 'sns' })],
  ['16 minutes old', () => bench.raw(list, { nowMs: Date.now() - 16 * MINUTE_MS })],
  ['16 minutes from now', () => bench.raw(list, { nowMs: Date.now() + 16 * MINUTE_MS })],
])('a signature is refused that is %s', async (_, call) => {
  expect(told(await call())).toEqual(REFUSED);
});

test('an access key that is nobody’s is not known, and a request without a signature gets nothing', async () => {
  const nobody = await callSqs(bench.url, list, { ...bench.key, accessKeyId: 'AKIAIOSFODNN7EXAMPLE' });
  expect(told(nobody)).toEqual([403, 'InvalidClientTokenId']);
  expect((await postSqs(bench.url, list)).status).toBe(403);
});

test('another account’s key id with this one’s secret is refused', async () => {
  const other = await bench.withAccount();
  const mixed = { ...bench.key, accessKeyId: other.key.accessKeyId };
  expect(told(await callSqs(bench.url, list, mixed))).toEqual(REFUSED);
});

test('a secret that follows from another server secret is refused', async () => {
  const foreign = new Secrets('the secret of another server, long enough');
  const secret = secretAccessKey(foreign, secretHash(bench.native.account.secret));
  expect(secret).toMatch(/^[0-9A-Za-z]{40}$/);
  expect(told(await callSqs(bench.url, list, { ...bench.key, secretAccessKey: secret }))).toEqual(REFUSED);
});

test('the same request again is another request; another body under its signature is refused', async () => {
  const request = signed(send('sent twice'));
  const [first, second] = [await postSqs(bench.url, request), await postSqs(bench.url, request)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.json.MessageId).not.toBe(first.json.MessageId);
  const changed = await postSqs(bench.url, { ...request, body: String(request.body).replace('twice', 'trice') });
  expect(told(changed)).toEqual(REFUSED);
  expect(await bench.bodies(url)).toEqual(['sent twice', 'sent twice']);
});

test.each<[string, (request: SqsRequest) => Partial<SqsRequest>]>([
  ['target', ({ headers }) => ({ headers: { ...headers, 'x-amz-target': 'AmazonSQS.PurgeQueue' } })],
  ['path', () => ({ path: '/' })],
  ['query', () => ({ path: '/sqs?Action=PurgeQueue' })],
  ['header of AWS', ({ headers }) => ({ headers: { ...headers, 'x-amz-security-token': 'x' } })],
])('another %s under a signature is refused', async (_, change) => {
  const request = signed(list);
  expect(told(await postSqs(bench.url, { ...request, ...change(request) }))).toEqual(REFUSED);
});

test('a second signature is no way in: in a second header, or in the query', async () => {
  const { headers, body } = signed(list);
  const lines = Object.entries({ ...headers, host: new URL(bench.url).host, 'content-length': String(body.length) });
  const wrong = String(headers.authorization).replace(/Signature=.*/, `Signature=${'0'.repeat(64)}`);
  const ask = async (all: readonly (readonly [string, string])[]) => {
    const connection = await openRaw(bench.url);
    connection.send(`POST /sqs HTTP/1.1\r\n${all.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`);
    const text = await connection.receive();
    connection.destroy();
    return text.slice(0, 12);
  };
  const others = lines.filter(([name]) => name !== 'authorization');
  const [right, bad] = [headers.authorization, wrong].map((value) => ['authorization', String(value)] as const);
  expect(await ask([right as [string, string], ...others])).toBe('HTTP/1.1 200');
  for (const two of [
    [bad, right],
    [right, bad],
    [right, right],
  ])
    expect(await ask([...(two as [string, string][]), ...others])).toMatch(/ 4\d\d$/);
  const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=x&X-Amz-Signature=${'0'.repeat(64)}`;
  expect((await postSqs(bench.url, { headers, body, path: `/sqs?${query}` })).status).toBe(403);
});

test('a body whose hash is told, and is another, is refused', async () => {
  const request = { ...list, headers: { ...list.headers, 'x-amz-content-sha256': '0'.repeat(64) } };
  const { status } = await bench.raw(request);
  expect([400, 403]).toContain(status);
});

test('wrong signatures without end are throttled, while right ones still pass', async () => {
  const guess = () => callSqs(bench.url, list, { ...bench.key, secretAccessKey: 'x'.repeat(40) });
  let last = await guess();
  for (let n = 0; n < 25 && last.status === 403; n += 1) last = await guess();
  expect(told(last)).toEqual([429, 'RequestThrottled']);
  expect((await bench.raw(list)).status).toBe(200);
});

test('after so many a long body of that key is not read from there, whatever its signature', async () => {
  const other = await bench.withAccount();
  for (let n = 0; n <= 20; n += 1) await callSqs(bench.url, list, { ...bench.key, secretAccessKey: 'x'.repeat(40) });
  /** The head of a body of 100 KiB, which waits to be asked for. */
  const ask = async (key: typeof bench.key) => {
    const request = send('long');
    const headers = signedHeaders(bench.url, request, key);
    const all = { ...headers, host: new URL(bench.url).host, 'content-length': '102400', expect: '100-continue' };
    const connection = await openRaw(bench.url);
    const lines = Object.entries(all).map((pair) => `${pair.join(': ')}\r\n`);
    connection.send(`POST /sqs HTTP/1.1\r\n${lines.join('')}\r\n`);
    const text = await connection.receive();
    connection.destroy();
    return text.slice(0, 12);
  };
  expect(await ask(bench.key)).toBe('HTTP/1.1 429');
  expect(await ask(other.key)).toBe('HTTP/1.1 100');
});
