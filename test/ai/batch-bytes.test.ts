// Requests of batches, and vectors that they are answered, are long: what is under way holds bounded memory, and the rest waits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { BATCH_INPUTS_MAX, BATCH_REQUEST_BYTES_MAX, VECTOR_BYTES_HELD_MAX } from '../../src/modules/ai/limits.ts';
import { eventually } from '../cron/harness.ts';
import { completionOf, type Deed, embeddingsAnswer } from '../support/ai/openai-double.ts';
import { createTestAccount } from '../support/service.ts';
import { BatchCaller, many } from './batches-harness.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const KIB = 1024;
const DIMENSIONS = 3;
/** An account that is alone may hold half of them: one of the requests below, not two. */
const BYTES = 36 * KIB;
/** 12 KiB while it is read. */
const chat = { model: 'acme/m-1', messages: [{ role: 'user', content: 'a'.repeat(4 * KIB) }] };
/** 3 KiB while it is read; 9 KiB of vectors are to come. */
const embed = { model: 'acme/e-1', input: Array.from({ length: BATCH_INPUTS_MAX }, () => 'a'), dimensions: DIMENSIONS };

let bench: AiVendors;
beforeAll(async () => {
  const options = { timeouts: PATIENT, admission: { all: { batchBytesMax: BYTES } } };
  bench = await AiVendors.start({}, undefined, {}, options);
});
afterAll(() => bench?.stop());

const readItems = {
  name: 'test_batch_items',
  text: `SELECT i.attempt, i.tries FROM ai.batch_item i WHERE i.account_id = $1 AND i.batch_id = $2 ORDER BY i.attempt`,
};

test.each<[string, object, Deed]>([
  ['requests', { capability: 'ai.chat', body: chat }, { status: 200, body: completionOf('Hello.') }],
  [
    'vectors',
    { capability: 'ai.embed', body: embed },
    { status: 200, body: embeddingsAnswer(BATCH_INPUTS_MAX, 'float') },
  ],
])('%s that find no room are made later, and it is no failure', async (_what, request, deed) => {
  const it = new BatchCaller(bench.service, await createTestAccount(bench.service.core, 1));
  const items = async () =>
    (await bench.service.core.db.query<Record<'attempt' | 'tries', number>>(readItems, [it.account.accountId, id]))
      .rows;
  const gate = Promise.withResolvers<void>();
  bench.acme.reset();
  bench.acme.rule = () => ({ after: gate.promise, deed });
  const { batch_id: id } = await it.create(many(4, request));
  // The three that wait were claimed three times. So may the fourth have been: when all are claimed together, none finds room.
  await eventually(async () => (await items()).filter(({ attempt }) => attempt > 2).length >= 3);
  await eventually(() => bench.acme.seen.length > 0);
  expect(bench.acme.seen).toHaveLength(1);
  gate.resolve();
  expect((await it.over(id)).counts).toEqual({ total: 4, succeeded: 4, failed: 0 });
  expect((await items()).map(({ tries }) => tries)).toEqual([0, 0, 0, 0]);
  expect(bench.acme.seen).toHaveLength(4);
});

test('the longest request with the longest vectors finds room where nothing else is under way', () => {
  expect(3 * BATCH_REQUEST_BYTES_MAX + VECTOR_BYTES_HELD_MAX).toBeLessThan(admission.all.batchBytesMax / 2);
});
