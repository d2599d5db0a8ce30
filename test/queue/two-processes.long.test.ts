// Two processes on one database: no setting, lease, order or count depends on which of them is asked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowedMs } from '../support/slowness.ts';
import { QueueBench } from './harness.ts';

let one: QueueBench;
let two: QueueBench;
beforeAll(async () => {
  one = await QueueBench.start();
  two = await QueueBench.start({ database: one.service.database, account: one.account });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

/** Both for an account of their own: what earlier tests still do is not counted with it. */
async function forAccount(): Promise<[QueueBench, QueueBench]> {
  const own = await one.withAccount();
  return [own, new QueueBench(two.service, own.account)];
}

describe('settings', () => {
  test('a queue made on one is there on the other at once', async () => {
    for (let i = 0; i < 10; i += 1) {
      const name = `fresh-${i}`;
      expect((await two.call('POST', '/v1/queue/consume', { queue: name })).status).toBe(404);
      await one.create(name);
      await two.publish(name, { i });
      expect(await one.payloads(name)).toEqual([{ i }]);
    }
  });

  test('a change on one counts for the next call on the other', async () => {
    await one.createWithDlq('changed');
    await one.batch(
      'changed',
      Array.from({ length: 6 }, (_, n) => ({ payload: { n } })),
    );
    await two.consume('changed', { max_messages: 1 });
    await one.update('changed', { visibility_timeout_default: 10_000, max_retries: 1 });
    const [item] = await two.consume('changed', { max_messages: 1 });
    expect(Date.parse(item.visibility_timeout_expires_at) - Date.parse(item.available_at)).toBeGreaterThan(9_000_000);
    expect(await two.nack('changed', item.receipt_handle)).toMatchObject({ status: 'dlq' });
    await one.update('changed', { dead_letter_queue: null });
    const [other] = await two.consume('changed', { max_messages: 1 });
    expect(await two.nack('changed', other.receipt_handle)).toMatchObject({ status: 'available' });
    await one.update('changed', { enable_priority: true });
    await one.publish('changed', { n: 'first' }, { priority: 10 });
    expect(await two.payloads('changed', { max_messages: 1 })).toEqual([{ n: 'first' }]);
  });

  test('a queue deleted and made anew on one is the new one on the other, also of another type', async () => {
    await one.create('reborn');
    await two.publish('reborn', { n: 'old' });
    const [old] = await two.consume('reborn');
    await two.publish('reborn', { n: 'older' });
    await one.ok('DELETE', '/v1/queue/delete/reborn');
    expect((await two.call('POST', '/v1/queue/consume', { queue: 'reborn' })).status).toBe(404);
    await one.create('reborn', { type: 'fifo' });
    expect(await two.ack('reborn', old.receipt_handle)).toMatchObject({ acked: false });
    await two.publish('reborn', { n: 'new' }, { message_group_id: 'g' });
    const [item] = await two.consume('reborn');
    expect(item.payload).toEqual({ n: 'new' });
    expect(await one.ack('reborn', item.receipt_handle)).toMatchObject({ acked: true });
  });
});

/** Consumes and acks on both until nothing comes any more; what came, in order of arrival. */
async function drain(queue: string, workers: number, max: number) {
  const seen: { n: number; group: string | null; id: string }[] = [];
  const work = async (bench: QueueBench) => {
    for (let idle = 0; idle < 4; ) {
      const items = await bench.consume(queue, { max_messages: max });
      idle = items.length === 0 ? idle + 1 : 0;
      for (const item of items) seen.push({ n: item.payload.n, group: item.message_group_id, id: item.message_id });
      for (const item of items) await (seen.length % 2 === 0 ? one : two).ack(queue, item.receipt_handle);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, i) => work(i % 2 === 0 ? one : two)));
  return seen;
}

async function publishBoth(
  queue: string,
  messages: number,
  fields: (n: number) => Record<string, unknown> = () => ({}),
) {
  const sent = Array.from({ length: messages }, (_, n) => ({ payload: { n }, ...fields(n) }));
  for (let at = 0; at < messages; at += 50) await (at % 100 === 0 ? one : two).batch(queue, sent.slice(at, at + 50));
}

test('consumers on both never get the same lease', async () => {
  await one.create('shared');
  await publishBoth('shared', 300);
  const seen = await drain('shared', 6, 5);
  expect(seen).toHaveLength(300);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(300);
  expect(await two.counts('shared')).toEqual([0, 0, 0, 0]);
});

test('FIFO order holds across both', async () => {
  await one.create('ordered', { type: 'fifo' });
  await publishBoth('ordered', 300, (n) => ({ message_group_id: `g${n % 5}` }));
  const seen = await drain('ordered', 6, 4);
  expect(seen).toHaveLength(300);
  for (let g = 0; g < 5; g += 1) {
    const order = seen.filter(({ group }) => group === `g${g}`).map(({ n }) => n);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  }
});

test('a deduplication id sent to both at once is stored and paid once', async () => {
  const [here, there] = await forAccount();
  await here.create('once', { type: 'fifo' });
  for (let i = 0; i < 10; i += 1) {
    const send = (bench: QueueBench) => bench.publish('once', { i }, { deduplication_id: `d${i}` });
    const [a, b] = await here.costing(1, {}, () => Promise.all([send(here), send(there)]));
    expect(a).toEqual(b);
  }
});

test.for(['standard', 'fifo'])(
  'purge, publish, consume and ack of a %s queue at once lose and invent no count',
  async (type, { signal }) => {
    const queue = `raced-${type}`;
    await one.create(queue, { type });
    let published = 0;
    let acked = 0;
    let purged = 0;
    const user = async (bench: QueueBench, group: string) => {
      for (let n = 0; n < 15 && !signal.aborted; n += 1) {
        await bench.publish(queue, { n }, type === 'fifo' ? { message_group_id: group } : {});
        published += 1;
        for (const item of await bench.consume(queue, { max_messages: 2 })) {
          if ((await bench.ack(queue, item.receipt_handle)).acked) acked += 1;
        }
      }
    };
    const purger = async (bench: QueueBench) => {
      for (let i = 0; i < 6 && !signal.aborted; i += 1) {
        const { purged: now } = await bench.ok('POST', `/v1/queue/purge/${queue}`, {});
        purged += now;
      }
    };
    await Promise.all([user(one, 'a'), user(two, 'b'), user(one, 'b'), user(two, 'a'), purger(one), purger(two)]);
    const { message_count: left } = await two.stats(queue);
    expect(left).toBe(published - acked - purged);
    await one.service.advance(1_000);
    let found = 0;
    for (let items = await two.consume(queue); items.length > 0; items = await two.consume(queue)) {
      found += items.length;
      for (const item of items) await one.ack(queue, item.receipt_handle);
    }
    expect(found).toBe(left);
    expect(await one.counts(queue)).toEqual([0, 0, 0, 0]);
  },
);

test('a publish that races with the deletion is either refused and free, or stored and charged, never both', async () => {
  const [here, there] = await forAccount();
  for (let i = 0; i < 8; i += 1) {
    const queue = `deleted-${i}`;
    await here.create(queue);
    const before = await here.books();
    const replies = Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        (n % 2 === 0 ? here : there).call('POST', '/v1/queue/publish', { queue, payload: { n } }),
      ),
    );
    const deleted = here.ok('DELETE', `/v1/queue/delete/${queue}`);
    const statuses = (await replies).map((reply) => reply.status);
    expect((await deleted).deleted).toBe(true);
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([]);
    const after = await here.books();
    expect(after.spentNanos - before.spentNanos).toBe(
      BigInt(statuses.filter((status) => status === 200).length) * 20_000n,
    );
    expect((await there.call('GET', `/v1/queue/get/${queue}`)).status).toBe(404);
  }
});

test('a consumer waiting on one hears of a message published on the other within about a second', async () => {
  await one.create('heard');
  const waiting = two.consume('heard', { wait_seconds: 20 });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const startedAt = performance.now();
  await one.publish('heard', { n: 1 });
  expect(await waiting).toMatchObject([{ payload: { n: 1 } }]);
  expect(performance.now() - startedAt).toBeLessThan(allowedMs(1_800));
});
