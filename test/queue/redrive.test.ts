// Redrive: back to the source from the dead-letter queue.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

/** A queue with `messages` dead messages {n}. */
async function dead(name: string, messages: number, settings: Record<string, unknown> = {}): Promise<string[]> {
  await bench.createWithDlq(name, settings);
  const { items } = await bench.batch(
    name,
    Array.from({ length: messages }, (_, n) => ({ payload: { n } })),
  );
  const held = [];
  while (held.length < messages) held.push(...(await bench.consume(name)));
  await bench.ok('POST', '/v1/queue/nack', {
    queue: name,
    requeue: false,
    receipts: held.map((item) => item.receipt_handle),
  });
  return items.map((item: { message_id: string }) => item.message_id);
}

const numbers = async (queue: string) => (await bench.payloads(queue)).map(({ n }) => n);

describe.each(['standard', 'fifo'])('%s', (type) => {
  test('all go back in order with delivery_count 0, and it has completed when answered', async () => {
    const queue = `all-${type}`;
    const ids = await dead(queue, 5, { type });
    const record = await bench.costing(0, {}, () => bench.redrive(queue));
    expect(record).toEqual({
      redrive_id: expect.stringMatching(/^rdr_/),
      queue,
      dlq_name: `${queue}-dead`,
      state: 'completed',
      moved: 5,
      requested: 5,
      rate_per_second: null,
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect(await bench.counts(queue)).toEqual([5, 0, 0, 0]);
    expect(await bench.counts(`${queue}-dead`)).toEqual([0, 0, 0, 0]);
    const items = await bench.consume(queue);
    expect(items.map((item) => [item.payload.n, item.delivery_count])).toEqual([0, 1, 2, 3, 4].map((n) => [n, 1]));
    expect(items.map((item) => item.message_id)).toEqual(ids);
  });

  test('only those named, ids that are not there passed over', async () => {
    const queue = `named-${type}`;
    const ids = await dead(queue, 4, { type });
    const alive = await bench.publish(queue, { n: 'alive' });
    const record = await bench.redrive(queue, { message_ids: [ids[2], ids[0], alive.message_id, ids[2]] });
    expect(record).toMatchObject({ state: 'completed', moved: 2 });
    expect(await numbers(queue)).toEqual(type === 'fifo' ? [0, 2, 'alive'] : ['alive', 0, 2]);
    expect((await bench.dead(queue)).map((item) => item.payload.n)).toEqual([1, 3]);
  });

  test('at most max_messages, in publish order', async () => {
    const queue = `most-${type}`;
    await dead(queue, 4, { type });
    expect(await bench.redrive(queue, { max_messages: 3 })).toMatchObject({ moved: 3, requested: 3 });
    expect(await bench.counts(queue)).toEqual([3, 0, 0, 1]);
  });

  test('messages that a consumer of the dead-letter queue holds stay with it', async () => {
    const queue = `held-${type}`;
    await dead(queue, 2, { type });
    const [held] = await bench.consume(`${queue}-dead`, { max_messages: 1 });
    expect(await bench.redrive(queue)).toMatchObject({ state: 'completed', moved: 1 });
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 1]);
    expect(await bench.ack(`${queue}-dead`, held.receipt_handle)).toMatchObject({ acked: true });
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 0]);
  });
});

test('a redriven message may be delivered as often as a new one', async () => {
  await dead('afresh', 1, { max_retries: 2 });
  await bench.redrive('afresh');
  for (const count of [1, 2]) {
    const [item] = await bench.consume('afresh');
    expect(item.delivery_count).toBe(count);
    await bench.nack('afresh', item.receipt_handle);
  }
  expect(await bench.counts('afresh')).toEqual([0, 0, 0, 1]);
});

test('with a rate it runs in the background, one at a time, and moves no faster', async () => {
  await dead('slow', 30);
  const started = performance.now();
  const record = await bench.redrive('slow', { rate_per_second: 10 });
  expect(record).toMatchObject({ state: 'running', requested: 30, rate_per_second: 10, finished_at: null });
  expect(await bench.fails('POST', '/v1/queue/dlq/redrive/slow', {})).toMatchObject({
    code: 'STATE_CONFLICT',
    http_status: 409,
  });
  const find = async () => (await bench.ok('GET', '/v1/queue/dlq/redrives/slow')).items[0];
  await expect.poll(async () => (await find()).moved).toBeGreaterThan(0);
  const { moved } = await find();
  expect(moved).toBeLessThanOrEqual(((performance.now() - started) / 1000) * 10 + 1);
  await bench.advance(10);
  await expect.poll(find).toMatchObject({ state: 'completed', moved: 30, redrive_id: record.redrive_id });
  expect(await bench.counts('slow')).toEqual([30, 0, 0, 0]);
});

test('cancelling stops it; what was moved stays; cancelling again answers it as it is', async () => {
  await dead('stopped', 20);
  const { redrive_id: id } = await bench.redrive('stopped', { rate_per_second: 1 });
  const cancelled = await bench.ok('POST', `/v1/queue/dlq/redrive_cancel/${id}`, {});
  expect(cancelled).toMatchObject({ state: 'cancelled', finished_at: expect.any(String) });
  // Of two that run, the older one is moved first.
  await dead('runs-on', 1);
  await bench.redrive('runs-on', { rate_per_second: 1 });
  await bench.advance(100);
  await expect
    .poll(async () => (await bench.ok('GET', '/v1/queue/dlq/redrives/runs-on')).items[0].state)
    .toBe('completed');
  const [available, , , left] = await bench.counts('stopped');
  expect([available, left]).toEqual([cancelled.moved, 20 - cancelled.moved]);
  expect(await bench.ok('POST', `/v1/queue/dlq/redrive_cancel/${id}`, {})).toEqual(cancelled);
  expect(await bench.redrive('stopped')).toMatchObject({ state: 'completed', moved: 20 - cancelled.moved });
});

test('an idempotency key moves once and answers the same, also after the queue is gone', async () => {
  await dead('repeated', 2);
  const body = { idempotency_key: 'r1', max_messages: 1 };
  const first = await bench.redrive('repeated', body);
  expect(await bench.redrive('repeated', body)).toEqual(first);
  expect(await bench.counts('repeated')).toEqual([1, 0, 0, 1]);
  await bench.ok('DELETE', '/v1/queue/delete/repeated');
  expect(await bench.redrive('repeated', body)).toEqual(first);
});

test('redrives are listed newest first; those of another account do not exist', async () => {
  await bench.createWithDlq('listed');
  const made = [];
  for (let i = 0; i < 3; i += 1) made.push((await bench.redrive('listed')).redrive_id);
  const page = await bench.ok('GET', '/v1/queue/dlq/redrives/listed?limit=2');
  expect(page.items.map((item: { redrive_id: string }) => item.redrive_id)).toEqual([made[2], made[1]]);
  const rest = await bench.ok('GET', `/v1/queue/dlq/redrives/listed?limit=2&cursor=${page.next_cursor}`);
  expect(rest.items.map((item: { redrive_id: string }) => item.redrive_id)).toEqual([made[0]]);
  const other = await bench.withAccount();
  for (const id of [made[0], 'rdr_unknown'])
    expect(await other.fails('POST', `/v1/queue/dlq/redrive_cancel/${id}`, {})).toMatchObject({ code: 'NOT_FOUND' });
});

test.each([
  ['rate_per_second 0', { rate_per_second: 0 }],
  ['max_messages 0', { max_messages: 0 }],
  ['no message_ids', { message_ids: [] }],
  ['what is no message id', { message_ids: ['nonsense'] }],
])('%s is refused', async (_, body) => {
  expect((await bench.call('POST', '/v1/queue/dlq/redrive/listed', body)).status).toBe(400);
});

test('the dead-letter queue itself is 409, naming the queues whose dead-letter queue it is', async () => {
  await dead('served', 2);
  await bench.create('served-too', { dead_letter_queue: 'served-dead' });
  const refused = await bench.fails('POST', '/v1/queue/dlq/redrive/served-dead', {});
  expect(refused).toMatchObject({
    code: 'STATE_CONFLICT',
    http_status: 409,
    param: 'queue',
    code_detail: 'not_a_source',
  });
  expect(refused.message).toContain('served, served-too');
  expect((await bench.ok('GET', '/v1/queue/dlq/redrives/served-dead')).items).toEqual([]);
  expect(await bench.counts('served')).toEqual([0, 0, 0, 2]);
  expect(await bench.redrive('served-too')).toMatchObject({ state: 'completed', moved: 0 });
});

test('a queue that has nothing to do with dead letters is 409, one that once had a dead-letter queue gets its messages back', async () => {
  await bench.create('plain');
  expect(await bench.fails('POST', '/v1/queue/dlq/redrive/plain', {})).toMatchObject({ code: 'STATE_CONFLICT' });
  await dead('once', 1);
  await bench.update('once', { dead_letter_queue: null });
  expect(await bench.redrive('once')).toMatchObject({ state: 'completed', moved: 1, dlq_name: null });
  expect(await bench.fails('POST', '/v1/queue/dlq/redrive/once', {})).toMatchObject({ code: 'STATE_CONFLICT' });
});

test('a missing queue is 404', async () => {
  expect(await bench.fails('POST', '/v1/queue/dlq/redrive/missing', {})).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
});
