// Clients that ask whether to send their body are refused before they have to.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signatureHeaders } from '../../src/lib/sigv4.ts';
import { openRaw, type RawConnection } from '../support/raw.ts';
import { S3Bench } from './harness.ts';

let bench: S3Bench;
let reader: S3Bench;
const opened: RawConnection[] = [];
beforeAll(async () => {
  bench = await S3Bench.start();
  await bench.bucket('asked');
  reader = await bench.withScopes(['storage:read']);
});
afterAll(async () => {
  for (const raw of opened) raw.destroy();
  reader.sdk.destroy();
  await bench.stop();
});

interface Asked {
  readonly of?: S3Bench;
  readonly bucket?: string;
  readonly bytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The head of a PUT that waits for its answer. */
async function ask({ of = bench, bucket = 'asked', bytes = 5, headers = {} }: Asked): Promise<RawConnection> {
  const raw = await openRaw(bench.root);
  opened.push(raw);
  const url = `/${bucket}/key`;
  const own = { host: new URL(bench.root).host };
  const signing = { ...of.key, region: 'us-east-1' };
  const signed = signatureHeaders({ method: 'PUT', url, headers: own }, signing, 'UNSIGNED-PAYLOAD', Date.now());
  const all = { ...own, ...signed, 'content-length': String(bytes), expect: '100-continue', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  raw.send(`PUT ${url} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return raw;
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

test('a body that may be sent is asked for, and the connection goes on', async () => {
  const raw = await ask({});
  expect(statuses(await raw.receive())).toEqual([100]);
  raw.send('hello');
  const text = await raw.receive((all) => statuses(all).length === 2);
  expect(statuses(text)).toEqual([100, 200]);
  expect(text).not.toMatch(/connection: close/i);
  expect(await bench.text('asked', 'key')).toBe('hello');
  raw.send(`GET /healthz HTTP/1.1\r\nhost: ${new URL(bench.root).host}\r\n\r\n`);
  expect(statuses(await raw.receive((all) => statuses(all).length === 3))).toHaveLength(3);
});

const MUCH = 2 ** 30;
const refusals: [string, () => Asked, number, string][] = [
  ['of a key that may not write', () => ({ of: reader }), 403, 'AccessDenied'],
  ['of a key that may not write, and is long', () => ({ of: reader, bytes: MUCH }), 403, 'AccessDenied'],
  ['with a wrong signature', () => ({ headers: { 'x-amz-date': '20000101T000000Z' } }), 403, ''],
  ['to a bucket that is not there', () => ({ bucket: 'not-there' }), 404, 'NoSuchBucket'],
  ['beyond 5 GiB', () => ({ bytes: 6 * MUCH }), 400, 'EntityTooLarge'],
];
test.each(refusals)(
  'a body %s is refused before it is asked for, and its connection ends',
  async (_, asked, status, code) => {
    const raw = await ask(asked());
    const text = await raw.receive((all) => all.includes('</Error>'));
    expect(statuses(text)).toEqual([status]);
    expect(text).toContain(`<Code>${code}`);
    expect(text).toMatch(/connection: close/i);
    await expect.poll(() => raw.closed, { interval: 5 }).toBe(true);
  },
);

test('whoever sends the body unasked gets the refusal too', async () => {
  const raw = await ask({ of: reader, bytes: 2 ** 20 });
  raw.send('x'.repeat(2 ** 20));
  const text = await raw.receive((all) => all.includes('</Error>'));
  expect(statuses(text)).toEqual([403]);
});
