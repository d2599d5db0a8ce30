// What a price line says is what is taken, with the input that makes a call work hardest: sources in buckets, results that are stored, answers
// that are waited for. Every example is held against its line in examples.test.ts.
import { beforeAll, expect, test } from 'vitest';
import { asJsonSchema, type JsonSchema } from '../../src/manifest/json-schema.ts';
import { byId, callCapability, capabilities, type Input, prepareExample } from '../support/capabilities.ts';
import { type Client, client, createTestAccount, type Reply } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { exampleSite } from '../support/site.ts';
import { Takings } from '../support/takings.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HTML = '<p>Paid</p>';
const mail = (to: string) => ({ from: 'news@example.com', to, subject: 'News', text: 'News.' });

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;
let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

/** An account whose calls are watched, with a picture in the bucket `files`. */
async function payer() {
  const { accountId, secret } = await createTestAccount(service.core, 5);
  const takings = new Takings(service.core, accountId);
  const call = takings.watch(client(service.url, secret));
  await ok(call, 'storage.bucket.create', { bucket: 'files' });
  await ok(call, 'storage.object.put', { bucket: 'files', key: 'image', content_base64: PNG });
  return { call, takings };
}

async function ok(call: Client, id: string, input: Input): Promise<Reply> {
  const reply = await callCapability(call, byId(id), input);
  expect(reply.status, `${id}: ${reply.text}`).toBe(200);
  return reply;
}

/** A source of bytes: it may be named by an object of a bucket. */
const isSource = ({ properties = {} }: JsonSchema) => 'bucket' in properties && 'content_base64' in properties;
const isPlace = ({ properties = {} }: JsonSchema) => 'bucket' in properties && 'key' in properties;
const hardInputs = capabilities.flatMap(({ id, input }) => {
  const fields = Object.entries(asJsonSchema(input).properties ?? {});
  const hard = fields.filter(([name, { items, ...field }]) =>
    name === 'store' ? isPlace(field) : isSource(field) || (items !== undefined && isSource(items)),
  );
  return hard.length === 0 ? [] : [[id, hard.map(([name]) => name)] as const];
});

/** The example of a capability with sources in the bucket, and a place for the result. */
async function hardInput(call: Client, id: string, names: readonly string[]): Promise<Input> {
  const example = (await prepareExample(call, byId(id))) as Data;
  const input = { ...example };
  for (const name of names.filter((each) => each !== 'mask')) {
    const { items } = asJsonSchema(byId(id).input).properties?.[name] ?? {};
    if (name === 'store') input.store = { bucket: 'files', key: 'made' };
    else if (items !== undefined) input[name] = [await inBucket(call, id), await inBucket(call, id)];
    else input[name] = await inBucket(call, id, example[name]?.content_base64);
  }
  return input;
}

/** The bytes of the example where it has some: not every PDF has a form. */
async function inBucket(call: Client, id: string, data?: string): Promise<Input> {
  if (data === undefined && !id.startsWith('pdf.')) return { bucket: 'files', key: 'image' };
  if (data === undefined) {
    await ok(call, 'pdf.create', { type: 'html', content: HTML, store: { bucket: 'files', key: 'pdf' } });
    return { bucket: 'files', key: 'pdf' };
  }
  const content_base64 = data.replace(/^data:[^,]*,/, '');
  await ok(call, 'storage.object.put', { bucket: 'files', key: 'example', content_base64 });
  return { bucket: 'files', key: 'example' };
}

test('there are calls that name objects, and calls that store', () => {
  expect(hardInputs.map(([id]) => id)).toEqual(expect.arrayContaining(['image.info', 'pdf.merge', 'web.screenshot']));
});

test.each(hardInputs)('%s takes and tells what its line says, by objects of a bucket', async (id, names) => {
  const { call, takings } = await payer();
  const reply = await ok(call, id, await hardInput(call, id, names));
  takings.expectCostOf(byId(id), reply);
});

test('a page that a model reads takes and tells what both cost', async () => {
  const { call, takings } = await payer();
  const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  const url = `${(await exampleSite()).url}/keys`;
  const reply = await ok(call, 'web.fetch', { url, format: 'json', schema });
  takings.expectCostOf(byId('web.fetch'), reply);
});

test('a batch of e-mails that was waited for tells what was taken, and counts as one call', async () => {
  const { call, takings } = await payer();
  const items = [mail('ada@example.org'), mail('grace@example.org')];
  const reply = await ok(call, 'email.batch.send', { items });
  takings.expectCostOf(byId('email.batch.send'), reply);
  expect(reply.body.metadata.cost_usd).toBeGreaterThan(0);
  expect(await calls(call, 'email.')).toBe(1);
});

test('a video counts as one call', async () => {
  const { call } = await payer();
  await ok(call, 'video.generate', { prompt: 'A boat.', model: 'sandbox/storyboard-1', duration_seconds: 1 });
  const spent = async () => (await get(call, 'usage?capability=video.generate')).spend_usd;
  await expect.poll(spent, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(await calls(call, 'video.')).toBe(1);
});

async function get(call: Client, path: string): Promise<Data> {
  return (await call('GET', `/v1/account/${path}`)).body.data;
}

/** Calls of a module that usage counts. */
async function calls(call: Client, prefix: string): Promise<number> {
  const { by_capability: all } = await get(call, 'usage');
  const own = all.filter(({ capability }: Data) => capability.startsWith(prefix));
  return own.reduce((sum: number, { count }: Data) => sum + count, 0);
}
