// max_receive_count and dead-letter queues.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

/** Delivers the message and lets its lease end by `end`. */
async function fail(queue: string, end: 'nack' | 'expiry') {
  const [item] = await bench.consume(queue, { visibility_timeout: 30 });
  if (end === 'nack') await bench.nack(queue, item.receipt_handle);
  else await bench.advance(31);
  return item;
}

describe.each(['standard', 'fifo'] as const)('%s', (type) => {
  test.each(['nack', 'expiry'] as const)(
    'delivered exactly n times; the n-th %s moves it, once, with one event',
    async (end) => {
      const queue = `exact-${type}-${end}`;
      await bench.createWithDlq(queue, { type, max_retries: 3 });
      const message = await bench.publish(queue, { n: 1 }, { headers: { h: 1 } });
      await bench.costing(0, { 'queue.dlq': 1 }, async () => {
        for (let count = 1; count <= 3; count += 1) {
          expect(await bench.counts(queue)).toEqual([1, 0, 0, 0]);
          expect(await fail(queue, end)).toMatchObject({ delivery_count: count });
        }
        expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
        expect(await bench.consume(queue)).toEqual([]);
        expect(await bench.counts(`${queue}-dead`)).toEqual([1, 0, 0, 0]);
      });
      const [dead] = await bench.dead(queue);
      expect(dead).toMatchObject({
        message_id: message.message_id,
        queue,
        payload: { n: 1 },
        headers: { h: 1 },
        status: 'dlq',
        delivery_count: 3,
        published_at: message.published_at,
        dlq_name: `${queue}-dead`,
        dead_lettered_at: expect.stringMatching(/Z$/),
        visibility_timeout_expires_at: null,
      });
      expect(await bench.consume(`${queue}-dead`)).toMatchObject([
        { message_id: message.message_id, payload: { n: 1 }, delivery_count: 4 },
      ]);
    },
  );

  test('nothing acts on a message whose last lease has ended', async () => {
    const queue = `over-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 1 });
    await bench.publish(queue);
    const [item] = await bench.consume(queue, { visibility_timeout: 30 });
    await bench.advance(31);
    expect(await bench.ack(queue, item.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.extend(queue, item.receipt_handle, 10)).toMatchObject({ extended: false });
    expect(await bench.nack(queue, item.receipt_handle)).toMatchObject({ nacked: false });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
  });

  test('requeue false moves it at once, whatever its count', async () => {
    const queue = `give-up-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 9 });
    await bench.publish(queue);
    const [item] = await bench.consume(queue);
    await bench.costing(0, { 'queue.dlq': 1 }, async () => {
      expect(await bench.nack(queue, item.receipt_handle, { requeue: false })).toMatchObject({
        nacked: true,
        requeue: false,
        status: 'dlq',
      });
    });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
  });

  test('a receipt of the queue does nothing in the dead-letter queue; an ack there counts for both', async () => {
    const queue = `receipts-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 1 });
    await bench.publish(queue);
    const item = await fail(queue, 'nack');
    expect(await bench.ack(`${queue}-dead`, item.receipt_handle)).toMatchObject({ acked: false });
    const [dead] = await bench.consume(`${queue}-dead`);
    expect(await bench.ack(`${queue}-dead`, item.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
    await bench.ack(`${queue}-dead`, dead.receipt_handle);
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 0]);
    expect(await bench.counts(`${queue}-dead`)).toEqual([0, 0, 0, 0]);
    expect(await bench.dead(queue)).toEqual([]);
  });

  test('a lowered limit counts for messages that are there: at once when not in flight, else when the lease ends', async () => {
    const queue = `lowered-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 5 });
    await bench.publish(queue, { n: 'flying' }, type === 'fifo' ? { message_group_id: 'a' } : {});
    await fail(queue, 'nack');
    const [flying] = await bench.consume(queue, { visibility_timeout: 30 });
    await bench.publish(queue, { n: 'waiting' }, type === 'fifo' ? { message_group_id: 'b' } : {});
    await fail(queue, 'nack');
    await bench.publish(queue, { n: 'new' }, type === 'fifo' ? { message_group_id: 'c' } : {});
    await bench.costing(0, { 'queue.dlq': 1 }, async () => {
      await bench.update(queue, { max_retries: 1 });
      expect(await bench.counts(queue)).toEqual([1, 1, 0, 1]);
    });
    expect(await bench.dead(queue)).toMatchObject([{ payload: { n: 'waiting' }, delivery_count: 1 }]);
    expect(await bench.extend(queue, flying.receipt_handle, 20)).toMatchObject({ extended: true });
    await bench.advance(31);
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 2]);
    expect(await bench.payloads(queue)).toEqual([{ n: 'new' }]);
  });

  test('a raised limit, or no dead-letter queue any more, lets the last lease be another one', async () => {
    for (const change of [{ max_retries: 2 }, { dead_letter_queue: null }]) {
      const queue = `raised-${type}-${Object.keys(change)[0]?.slice(0, 3)}`;
      await bench.createWithDlq(queue, { type, max_retries: 1 });
      await bench.publish(queue);
      await bench.consume(queue, { visibility_timeout: 30 });
      await bench.update(queue, change);
      await bench.advance(31);
      expect(await bench.consume(queue)).toMatchObject([{ delivery_count: 2 }]);
    }
  });

  test('what time had decided before a change stays decided', async () => {
    const queue = `decided-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 1 });
    await bench.publish(queue);
    await bench.consume(queue, { visibility_timeout: 30 });
    await bench.advance(31);
    await bench.update(queue, { max_retries: 5 });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
  });

  test('a dead-letter queue has a limit of its own, counted from the arrival', async () => {
    await bench.create(`third-${type}`, { type });
    await bench.create(`second-${type}`, { type, max_retries: 2, dead_letter_queue: `third-${type}` });
    await bench.create(`first-${type}`, { type, max_retries: 2, dead_letter_queue: `second-${type}` });
    await bench.publish(`first-${type}`);
    for (const queue of ['first', 'first', 'second', 'second']) await fail(`${queue}-${type}`, 'nack');
    expect(await bench.counts(`first-${type}`)).toEqual([0, 0, 0, 0]);
    expect(await bench.counts(`second-${type}`)).toEqual([0, 0, 0, 1]);
    expect(await bench.consume(`third-${type}`)).toMatchObject([{ delivery_count: 5 }]);
  });
});

test('a FIFO group goes on in order without its dead head', async () => {
  await bench.createWithDlq('go-on.fifo', { type: 'fifo', max_retries: 1 });
  await bench.batch(
    'go-on.fifo',
    [1, 2, 3].map((n) => ({ payload: { n } })),
  );
  const [head] = await bench.consume('go-on.fifo', { max_messages: 1 });
  await bench.nack('go-on.fifo', head.receipt_handle);
  expect(await bench.payloads('go-on.fifo')).toEqual([{ n: 2 }, { n: 3 }]);
});

test('dlq list shows the messages of the queue only, page by page, in publish order', async () => {
  await bench.create('shared-dead');
  for (const name of ['one', 'two']) {
    await bench.create(name, { dead_letter_queue: 'shared-dead' });
    await bench.batch(
      name,
      [1, 2, 3].map((n) => ({ payload: { n, name } })),
    );
    for (const item of await bench.consume(name)) await bench.nack(name, item.receipt_handle, { requeue: false });
  }
  expect((await bench.dead('one')).map((item) => item.payload)).toEqual([1, 2, 3].map((n) => ({ n, name: 'one' })));
  const first = await bench.ok('GET', '/v1/queue/dlq/list/two?limit=2');
  expect(first).toMatchObject({ has_more: true, items: [{ payload: { n: 1 } }, { payload: { n: 2 } }] });
  const second = await bench.ok('GET', `/v1/queue/dlq/list/two?limit=2&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ has_more: false, next_cursor: null, items: [{ payload: { n: 3 } }] });
  expect(await bench.counts('shared-dead')).toEqual([6, 0, 0, 0]);
  expect(await bench.fails('GET', `/v1/queue/dlq/list/one?cursor=${first.next_cursor}`)).toMatchObject({
    code: 'INVALID_CURSOR',
  });
});

test('a page of the dlq list ends after some MiB of payload, and the next one goes on behind it', async () => {
  const own = await bench.withAccount();
  await own.createWithDlq('heavy', { max_message_size_kb: 256 });
  const text = 'x'.repeat(255 * 1024);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  for (const half of [numbers.slice(0, 10), numbers.slice(10)]) {
    await own.batch(
      'heavy',
      half.map((n) => ({ payload: { n, text } })),
    );
    for (const { receipt_handle } of await own.consume('heavy'))
      await own.nack('heavy', receipt_handle, { requeue: false });
  }
  const seen: number[] = [];
  const pages: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { text: body, body: reply } = await own.call('GET', `/v1/queue/dlq/list/heavy?limit=100${after}`);
    expect(body.length).toBeLessThan(4.5 * 1024 * 1024);
    expect(reply.data.has_more).toBe(reply.data.next_cursor !== null);
    seen.push(...reply.data.items.map((item: { payload: { n: number } }) => item.payload.n));
    pages.push(reply.data.items.length);
    cursor = reply.data.next_cursor;
  }
  expect(seen).toEqual(numbers);
  expect(pages).toEqual([17, 3]);
});

test('deleting a former dead-letter queue takes its messages out of the counts of their queue', async () => {
  await bench.createWithDlq('former');
  await bench.publish('former');
  const [item] = await bench.consume('former');
  await bench.nack('former', item.receipt_handle, { requeue: false });
  await bench.create('newer-dead');
  await bench.update('former', { dead_letter_queue: 'newer-dead' });
  expect(await bench.counts('former')).toEqual([0, 0, 0, 1]);
  await bench.ok('DELETE', '/v1/queue/delete/former-dead');
  const isBuried = async () => {
    const text = `SELECT 1 FROM queue.tombstone WHERE account_id = $1`;
    return (await bench.service.core.db.query({ name: 'test_tombs', text }, [bench.account.accountId])).count === 0;
  };
  const looks: unknown[] = [];
  const look = async () => {
    const { moved, state } = await bench.redrive('former');
    looks.push([await bench.counts('former'), await bench.dead('former'), moved, state]);
  };
  // While what is left of the queue waits for its removal, and after it.
  await look();
  await expect.poll(() => look().then(isBuried)).toBe(true);
  await look();
  expect(new Set(looks.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify([[0, 0, 0, 0], [], 0, 'completed'])]),
  );
});

test('messages of a deleted queue stay in the dead-letter queue as its own', async () => {
  await bench.createWithDlq('left');
  await bench.publish('left');
  const [item] = await bench.consume('left');
  await bench.nack('left', item.receipt_handle, { requeue: false });
  await bench.ok('DELETE', '/v1/queue/delete/left');
  await bench.create('left');
  expect(await bench.dead('left')).toEqual([]);
  expect(await bench.counts('left')).toEqual([0, 0, 0, 0]);
  const [dead] = await bench.consume('left-dead');
  expect(await bench.ack('left-dead', dead.receipt_handle)).toMatchObject({ acked: true });
});
