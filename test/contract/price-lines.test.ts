// What a price line says is what is taken: free is free with the input that makes a call work hardest, and a call takes no more than its line says.
import { beforeAll, expect, test } from 'vitest';
import { byId, manifest } from '../support/capabilities.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HTML = '<p>Paid</p>';
const mail = (to: string) => ({ from: 'news@example.com', to, subject: 'News', text: 'News.' });

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;
let service: SharedService;
let call: Client;
beforeAll(async () => {
  service = await sharedService();
  call = client(service.url, (await createTestAccount(service.core, 5)).secret);
  await post('storage/bucket/create', { bucket: 'files' });
  await post('storage/object/put', { bucket: 'files', key: 'a.png', content_base64: PNG });
  await post('pdf/create', { type: 'html', content: HTML, store: { bucket: 'files', key: 'a.pdf' } });
});

async function post(path: string, body: object): Promise<Data> {
  const answer = await call('POST', `/v1/${path}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function get(path: string): Promise<Data> {
  return (await call('GET', `/v1/account/${path}`)).body.data;
}

/** In nano-USD. */
const balance = async () => Math.round((await get('balance')).balance_usd * 1e9);

/** Of a unit, and at least what a call costs. */
function priceOf(name: string): number {
  const price = manifest.prices.prices[name];
  return Math.max(Number(price?.nanosPerUnit ?? 0n), Number(price?.minimumNanos ?? 0n));
}

/** Calls of a module that usage counts. */
async function calls(prefix: string): Promise<number> {
  const { by_capability: all } = await get('usage');
  const own = all.filter(({ capability }: Data) => capability.startsWith(prefix));
  return own.reduce((sum: number, { count }: Data) => sum + count, 0);
}

async function taken(path: string, body: object) {
  const before = await balance();
  const { metadata } = await post(path, body);
  return { taken: before - (await balance()), told: Math.round(metadata.cost_usd * 1e9) };
}

test.each([
  ['image/info', { source: { bucket: 'files', key: 'a.png' } }],
  ['pdf/info', { source: { bucket: 'files', key: 'a.pdf' } }],
  ['image/quote', { prompt: 'A boat.', image: { bucket: 'files', key: 'a.png' } }],
])('%s of an object in a bucket is free', async (path, body) => {
  expect(await taken(path, body)).toEqual({ taken: 0, told: 0 });
});

test('a call that is priced takes what its line says, and tells it', async () => {
  const source = { bucket: 'files', key: 'a.pdf' };
  const store = { bucket: 'files', key: 'made' };
  for (const [path, body] of [
    ['pdf/create', { type: 'html', content: HTML, store }],
    ['pdf/merge', { sources: [source, source], store }],
    ['pdf/extract_text', { source }],
    ['image/transform', { source: { bucket: 'files', key: 'a.png' }, format: 'png', store }],
  ] as const) {
    const id = path.replace('/', '.');
    const found = byId(id);
    const names = [found.price, ...(found.laterPrices ?? [])];
    const line = names.reduce((sum, name) => sum + priceOf(name), 0);
    const reads = 'sources' in body ? priceOf('storage.read') : 0;
    const { taken: took, told } = await taken(path, body);
    expect(took, id).toBe(told);
    expect(took, id).toBeLessThanOrEqual(line + reads);
  }
});

test('a batch of e-mails that was waited for tells what was taken, and counts as one call', async () => {
  const emails = [mail('ada@example.org'), mail('grace@example.org')];
  const { taken: took, told } = await taken('email/batch/send', { emails });
  expect([took > 0, told]).toEqual([true, took]);
  expect(await calls('email.')).toBe(1);
});

test('a video counts as one call', async () => {
  await post('video/generate', { prompt: 'A boat.', model: 'sandbox/storyboard-1', duration_seconds: 1 });
  const spent = async () => (await get('usage?capability=video.generate')).spend_usd;
  await expect.poll(spent, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(await calls('video.')).toBe(1);
});
