// Whom a video goes to, and at what price: the order of the chain and who is not in it, what is held, and what a live job keeps when the
// operator's file is another one at the next start.
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { eventually } from '../cron/harness.ts';
import { createTestDatabase } from '../support/database.ts';
import { client, startTestService, type TestService } from '../support/service.ts';
import { openaiWire } from '../support/vendors/wires.ts';
import type { Data } from './harness.ts';
import { VendorBench, type VendorOptions } from './vendors-harness.ts';

/** A vendor with a model of its own. */
function vendor(id: string, priority: number, perSecond: number, model: Data = {}, entry: Data = {}): VendorOptions {
  return {
    id,
    wire: openaiWire,
    entry: { priority, ...entry },
    model: { id: `${id}-model`, price: { per_second: perSecond }, ...model },
  };
}
const china = { region: 'china' };
const shared = { id: 'shared' };
const SECONDS = 10;

describe('the chain', () => {
  let bench: VendorBench;
  beforeAll(async () => {
    bench = await VendorBench.at([
      vendor('late', 9, 0.02, { flagship: true }),
      vendor('dear', 4, 0.16),
      vendor('second', 2, 0.12),
      vendor('first', 1, 0.1),
      vendor('fourth', 3, 0.14),
      vendor('cheaper', 2, 0.11),
      vendor('grand', 8, 0.09, { flagship: true }),
      vendor('far', 0, 0.01, {}, china),
      vendor('off', 0, 0.1, {}, { enabled: false }),
      vendor('keyless', 0, 0.1, {}, { api_key: '${QM_TEST_NO_SUCH_KEY}' }),
      vendor('old', 0, 0.1, { valid_until: '2020-01-01' }),
      vendor('one', 10, 0.1, shared),
      vendor('half-more', 11, 0.15, shared),
      vendor('too-dear', 12, 0.1500001, shared),
      vendor('also-far', 10, 0.1, shared, china),
    ]);
  });
  afterAll(() => bench.close());
  beforeEach(() => {
    for (const double of bench.doubles.values()) double.forget();
  });

  test.each<[string, Data, string[]]>([
    ['auto: by priority, then price; the first three', {}, ['first', 'cheaper', 'second']],
    ['auto may leave the region when it is told so; nothing dearer follows', { cross_region: true }, ['far']],
    ['cheapest: by price; nobody who costs more than half as much again', { model: 'cheapest' }, ['late']],
    ['smartest: flagships by priority', { model: 'smartest' }, ['grand', 'late']],
    ['a bare model: those that have it, at 1.5 times the first’s price and no more', shared, ['one', 'half-more']],
    ['a bare model, anywhere', { ...shared, cross_region: true }, ['also-far', 'one', 'half-more']],
    ['a named vendor is followed by nobody', { vendor: 'one' }, ['one']],
    ['as is one in the model’s name', { model: 'dear/dear-model' }, ['dear']],
    ['the sandbox serves who names it', { model: 'sandbox/storyboard-1' }, ['sandbox']],
    ['or its model', { model: 'storyboard-1' }, ['sandbox']],
  ])('%s', async (_, wish, vendors) => {
    const { model, id, ...rest } = wish;
    const body = { prompt: 'A boat.', duration_seconds: SECONDS, model: model ?? id ?? 'auto', ...rest };
    const own = await bench.withAccount();
    const { chain, max_cost_usd: most } = await own.ok('POST', '/v1/video/quote', body);
    expect(chain.map((link: Data) => link.vendor)).toEqual(vendors);
    // What is held is the highest of the chain, and thirty days of 8 Mbit/s.
    const job = await own.ok('POST', '/v1/video/generate', { ...body, store: true });
    const highest = Math.max(...chain.map((link: Data) => link.price_usd));
    const storage = 0.000_279_397;
    expect([most, job.vendor]).toEqual([highest, vendors[0]]);
    expect((await own.balance()).held).toBeCloseTo(highest + storage, 9);
    await own.ok('POST', `/v1/video/cancel/${job.job_id}`);
  });

  const CANNOT = 'VENDOR_NOT_AVAILABLE';
  test.each<[string, Data, unknown[]]>([
    ['is switched off', { vendor: 'off' }, [400, CANNOT, 'vendor', 'disabled']],
    ['has no key', { model: 'keyless/keyless-model' }, [400, CANNOT, 'vendor', 'disabled']],
    ['is elsewhere', { vendor: 'far' }, [400, CANNOT, 'vendor', 'region']],
    ['is unknown', { vendor: 'nobody' }, [400, CANNOT, 'vendor', undefined]],
    ['has no such model', { vendor: 'one', model: 'dear-model' }, [404, 'MODEL_NOT_FOUND', 'model', undefined]],
    [
      'is not the one in the model’s name',
      { vendor: 'one', model: 'dear/dear-model' },
      [400, 'INVALID_REQUEST', 'vendor', undefined],
    ],
    ['offers its model no more', { model: 'old-model' }, [404, 'MODEL_NOT_FOUND', 'model', undefined]],
  ])('a vendor that %s is refused by name; nothing is held', async (_, wish, error) => {
    const before = await bench.balance();
    const body = { prompt: 'A boat.', duration_seconds: 1, ...wish };
    for (const path of ['/v1/video/generate', '/v1/video/quote'])
      expect(await bench.fails('POST', path, body)).toEqual(error);
    expect(await bench.balance()).toEqual(before);
  });

  test('is walked in its order, nobody else is asked, and then it is walked again', async () => {
    const before = new Map([...bench.doubles].map(([id, double]) => [id, double.count('submit')]));
    const asked = () =>
      [...bench.doubles].filter(([id, double]) => double.count('submit') > (before.get(id) ?? 0)).map(([id]) => id);
    for (const id of ['first', 'cheaper', 'second']) bench.double(id).script('submit', { refusal: 'down' });
    const { job_id: id } = await bench.job({ duration_seconds: SECONDS });
    await bench.until(() => asked().length === 3);
    expect(asked().sort()).toEqual(['cheaper', 'first', 'second']);
    const job = await bench.soon(id);
    // The first takes it when it is asked again: then nobody was left behind.
    expect(job).toMatchObject({ state: 'succeeded', vendor: 'first' });
    expect(job.metadata.failover_info).toBeUndefined();
    expect(asked()).toHaveLength(3);
  });
});

describe('a job that lives while the file changes', () => {
  test('keeps its price and its vendor; who takes no more work finishes it; who is at work cannot be removed', async () => {
    const database = await createTestDatabase();
    const bench = await VendorBench.at([vendor('acme', 1, 0.1), vendor('bolt', 2, 0.1)], {}, database);
    const { VENDORS_FILE: file = '' } = bench.env;
    const { id, at } = await bench.taken('acme', { duration_seconds: 2 });
    await bench.service.stop();
    let next: TestService | null = null;
    try {
      const before = parse(await readFile(file, 'utf8'));
      const [acme, bolt] = before.vendors;
      const dearer = { per_second: 0.3 };
      const save = (vendors: Data[]) =>
        writeFile(file, stringify({ ...before, vendors }, { aliasDuplicateObjects: false }));
      const begin = () => startTestService({ env: bench.env, database });

      await save([bolt]);
      await expect(begin()).rejects.toThrow('VENDORS_FILE lacks vendors that are at work: acme (1)');

      await save([
        { ...acme, enabled: false, models: [{ ...acme.models[0], price: dearer }] },
        { ...bolt, models: [{ ...bolt.models[0], price: dearer }] },
      ]);
      next = await begin();
      const { advance, url } = next;
      const call = client(url, bench.account.secret);
      const generate = (body: Data) =>
        call('POST', '/v1/video/generate', { prompt: 'A boat.', duration_seconds: 2, ...body });
      const ended = (job: string) =>
        eventually(async () => {
          await advance(3);
          const { data } = (await call('GET', `/v1/video/get/${job}`)).body;
          return data.finished_at === null ? null : data;
        });
      expect((await generate({ vendor: 'acme' })).body.error).toMatchObject({
        code: 'VENDOR_NOT_AVAILABLE',
        code_detail: 'disabled',
      });
      at.state = 'succeeded';
      expect(await ended(id)).toMatchObject({ state: 'succeeded', vendor: 'acme', cost_usd: 0.21 });
      const job = (await generate({ vendor: 'bolt' })).body.data;
      expect(await ended(job.job_id)).toMatchObject({ state: 'succeeded', vendor: 'bolt', cost_usd: 0.63 });
      await next.stop();
      next = null;

      // Nothing of it lives any more.
      await save([bolt]);
      next = await begin();
    } finally {
      await next?.stop();
      for (const double of bench.doubles.values()) await double.close();
      await database.drop();
    }
  });
});
