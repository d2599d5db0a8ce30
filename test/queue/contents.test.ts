// What a queue holds: retention, statistics, purge, peek, sizes, bytes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

const DAY = 86_400;

describe('retention', () => {
  test.each(['standard', 'fifo'])(
    'a message of a %s queue is gone when its days since publishing are over, delivered or not',
    async (type) => {
      const queue = `kept-${type}`;
      await bench.create(queue, { type, message_retention_days: 1, visibility_timeout_default: 43_200 });
      await bench.batch(
        queue,
        ['a', 'b'].map((group) => ({ payload: { group }, ...(type === 'fifo' ? { message_group_id: group } : {}) })),
      );
      await bench.advance(DAY - 60);
      const [held] = await bench.consume(queue, { max_messages: 1 });
      expect(await bench.counts(queue)).toEqual([1, 1, 0, 0]);
      await bench.costing(0, {}, async () => {
        await bench.advance(61);
        expect(await bench.consume(queue)).toEqual([]);
        expect(await bench.peek(queue)).toEqual([]);
        expect(await bench.stats(queue)).toMatchObject({ message_count: 0, oldest_message_age_seconds: 0 });
        expect(await bench.ack(queue, held.receipt_handle)).toMatchObject({ acked: false });
      });
      await bench.publish(queue, { n: 'fresh' });
      expect(await bench.payloads(queue)).toEqual([{ n: 'fresh' }]);
    },
  );

  test('many messages past retention do not hide a fresh one of their FIFO group', async () => {
    await bench.create('behind.fifo', { type: 'fifo', message_retention_days: 1 });
    await bench.batch(
      'behind.fifo',
      Array.from({ length: 30 }, (_, n) => ({ payload: { n } })),
    );
    await bench.advance(DAY - 10);
    await bench.publish('behind.fifo', { n: 'fresh' });
    await bench.advance(20);
    expect(await bench.payloads('behind.fifo', { max_messages: 1 })).toEqual([{ n: 'fresh' }]);
  });

  test('a shorter retention counts at once for what is there', async () => {
    await bench.create('shortened');
    await bench.publish('shortened');
    await bench.advance(2 * DAY);
    expect(await bench.counts('shortened')).toEqual([1, 0, 0, 0]);
    await bench.update('shortened', { message_retention_days: 1 });
    expect(await bench.counts('shortened')).toEqual([0, 0, 0, 0]);
  });

  test('in a dead-letter queue it counts from the arrival, after a redrive from the redrive; published_at stays', async () => {
    await bench.create('aging-dead', { message_retention_days: 2 });
    await bench.create('aging', { message_retention_days: 1, dead_letter_queue: 'aging-dead' });
    const { published_at: publishedAt } = await bench.publish('aging');
    await bench.advance(0.5 * DAY);
    const [item] = await bench.consume('aging');
    await bench.nack('aging', item.receipt_handle, { requeue: false });
    await bench.advance(1.9 * DAY);
    expect(await bench.counts('aging')).toEqual([0, 0, 0, 1]);
    await bench.redrive('aging');
    await bench.advance(0.9 * DAY);
    expect(await bench.consume('aging', { visibility_timeout: 0 })).toMatchObject([{ published_at: publishedAt }]);
    await bench.advance(0.2 * DAY);
    expect(await bench.counts('aging')).toEqual([0, 0, 0, 0]);
  });

  test('what the dead-letter queue lets go leaves the counts of the source', async () => {
    await bench.create('brief-dead', { message_retention_days: 1 });
    await bench.create('brief', { dead_letter_queue: 'brief-dead' });
    await bench.publish('brief');
    const [item] = await bench.consume('brief');
    await bench.nack('brief', item.receipt_handle, { requeue: false });
    await bench.advance(DAY + 60);
    expect(await bench.counts('brief')).toEqual([0, 0, 0, 0]);
    expect(await bench.dead('brief')).toEqual([]);
  });
});

describe('stats', () => {
  test('are exact after every kind of call', async () => {
    await bench.createWithDlq('exact', { max_retries: 2 });
    await bench.batch(
      'exact',
      Array.from({ length: 9 }, (_, n) => ({ payload: { n }, delay_seconds: n === 8 ? 100 : 0 })),
    );
    expect(await bench.stats('exact')).toEqual({
      queue: 'exact',
      message_count: 8,
      available_count: 8,
      in_flight_count: 0,
      delayed_count: 1,
      dlq_count: 0,
      oldest_message_age_seconds: 0,
    });
    const items = await bench.consume('exact', { max_messages: 5, visibility_timeout: 60 });
    await bench.ack('exact', items[0].receipt_handle);
    await bench.nack('exact', items[1].receipt_handle);
    await bench.nack('exact', items[2].receipt_handle, { delay_seconds: 50 });
    await bench.nack('exact', items[3].receipt_handle, { requeue: false });
    expect(await bench.counts('exact')).toEqual([4, 1, 2, 1]);
    await bench.advance(61);
    expect(await bench.stats('exact')).toMatchObject({ message_count: 6, available_count: 6, delayed_count: 1 });
    expect((await bench.stats('exact')).oldest_message_age_seconds).toBeGreaterThanOrEqual(61);
  });

  test('stay exact while many publish, consume and ack, and after the changes are folded', async () => {
    await bench.create('busy');
    const acked = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        let own = 0;
        for (let n = 0; n < 15; n += 1) {
          await bench.publish('busy', { i, n });
          const items = await bench.consume('busy', { max_messages: 1 });
          for (const item of n % 3 === 0 ? [] : items)
            own += (await bench.ack('busy', item.receipt_handle)).acked ? 1 : 0;
        }
        return own;
      }),
    );
    const left = 120 - acked.reduce((sum, own) => sum + own, 0);
    const seen = new Set<number>();
    const look = async () => seen.add((await bench.stats('busy')).message_count);
    const unfolded = async () => {
      await look();
      const text = `SELECT count(*) AS changes FROM queue.delta JOIN queue.queue USING (account_id, queue_id)
                     WHERE account_id = $1 AND name = 'busy'`;
      const { rows } = await bench.service.core.db.query<{ changes: bigint }>({ name: 'test_unfolded', text }, [
        bench.account.accountId,
      ]);
      return Number(rows[0]?.changes);
    };
    await expect.poll(unfolded, { interval: 10 }).toBeLessThan(32);
    await look();
    expect([...seen]).toEqual([left]);
  });

  test('a missing queue is 404', async () => {
    expect(await bench.fails('GET', '/v1/queue/stats/missing')).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
  });
});

describe('purge', () => {
  test.each(['standard', 'fifo'])(
    'removes available, delayed and in-flight messages of a %s queue and counts them exactly',
    async (type) => {
      const queue = `purged-${type}`;
      await bench.createWithDlq(queue, { type });
      const group = (name: string) => (type === 'fifo' ? { message_group_id: name } : {});
      await bench.batch(
        queue,
        [0, 1, 2, 3].map((n) => ({ payload: { n }, ...group(`g${n}`) })),
      );
      await bench.publish(queue, {}, { delay_seconds: 60, ...group('later') });
      const items = await bench.consume(queue, { max_messages: 2 });
      await bench.nack(queue, items[0].receipt_handle, { requeue: false });
      await bench.costing(0, {}, async () => {
        expect(await bench.ok('POST', `/v1/queue/purge/${queue}`, {})).toEqual({ queue, purged: 4, found: true });
      });
      expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
      expect(await bench.ack(queue, items[1].receipt_handle)).toMatchObject({ acked: false });
      expect(await bench.ok('POST', `/v1/queue/purge/${queue}`, { queue })).toMatchObject({ purged: 0 });
      await bench.publish(queue, { n: 'after' }, group('g0'));
      expect(await bench.payloads(queue)).toEqual([{ n: 'after' }]);
      expect(await bench.ok('POST', `/v1/queue/purge/${queue}-dead`)).toMatchObject({ purged: 1 });
      expect(await bench.counts(queue)).toEqual([0, 1, 0, 0]);
    },
  );

  test('what its last lease or retention has taken already is not purged', async () => {
    await bench.createWithDlq('taken', { max_retries: 1 });
    await bench.publish('taken');
    await bench.consume('taken', { visibility_timeout: 10 });
    await bench.advance(11);
    expect(await bench.ok('POST', '/v1/queue/purge/taken', {})).toMatchObject({ purged: 0 });
    expect(await bench.counts('taken')).toEqual([0, 0, 0, 1]);
  });

  test('a missing queue is found false without a count; another queue in the body is refused', async () => {
    expect(await bench.ok('POST', '/v1/queue/purge/missing', {})).toEqual({ queue: 'missing', found: false });
    await bench.create('mine');
    await bench.publish('mine');
    const error = await bench.fails('POST', '/v1/queue/purge/mine', { queue: 'other' });
    expect(error.http_status).toBe(400);
    expect(await bench.counts('mine')).toEqual([1, 0, 0, 0]);
  });
});

describe('peek', () => {
  test('shows what comes next without a lease, a receipt or a count', async () => {
    await bench.create('seen');
    await bench.batch(
      'seen',
      Array.from({ length: 12 }, (_, n) => ({ payload: { n } })),
    );
    const [one, ...more] = await bench.ok('GET', '/v1/queue/peek/seen').then((data) => data.items);
    expect(more).toEqual([]);
    expect(one).toMatchObject({
      payload: { n: 0 },
      status: 'available',
      delivery_count: 0,
      visibility_timeout_expires_at: null,
    });
    expect(one).not.toHaveProperty('receipt_handle');
    expect((await bench.peek('seen')).map((item) => item.payload.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await bench.counts('seen')).toEqual([12, 0, 0, 0]);
    expect(await bench.consume('seen', { max_messages: 1 })).toMatchObject([{ payload: { n: 0 }, delivery_count: 1 }]);
    const newest = await bench.ok('GET', '/v1/queue/peek/seen?limit=3&newest=true').then((data) => data.items);
    expect(newest.map((item: { payload: { n: number } }) => item.payload.n)).toEqual([11, 10, 9]);
    for (const limit of [0, 11])
      expect((await bench.call('GET', `/v1/queue/peek/seen?limit=${limit}`)).status).toBe(400);
  });
});

describe('size and bytes', () => {
  const sized = (bytes: number) => `{"t":"${'x'.repeat(bytes - 8)}"}`;
  const publish = (queue: string, payload: string, headers = '') =>
    bench.call('POST', '/v1/queue/publish', `{"queue":"${queue}","payload":${payload}${headers}}`);

  test('the limit is the UTF-8 bytes of the payload as sent plus headers, to the byte', async () => {
    await bench.create('one-kib', { max_message_size_kb: 1 });
    expect((await publish('one-kib', sized(1024))).status).toBe(200);
    await bench.costing(0, {}, async () => {
      for (const [payload, headers] of [
        [sized(1025), ''],
        [sized(1023), ',"headers":{}'],
        [sized(1000).replace('xxx', 'äöü'.repeat(6)), ''],
        [`{ ${' '.repeat(1022)}}`, ''],
      ] as const) {
        const reply = await publish('one-kib', payload, headers);
        expect(reply.body.error).toMatchObject({ code: 'MESSAGE_TOO_LARGE', http_status: 400, param: 'payload' });
      }
    });
    expect((await publish('one-kib', sized(1022), ',"headers":{}')).status).toBe(200);
    expect(await bench.counts('one-kib')).toEqual([2, 0, 0, 0]);
  });

  test('256 KiB is the largest message; a larger one of a batch refuses all', async () => {
    await bench.create('largest');
    expect((await publish('largest', sized(256 * 1024))).status).toBe(200);
    expect((await publish('largest', sized(256 * 1024 + 1))).body.error).toMatchObject({ code: 'MESSAGE_TOO_LARGE' });
    const body = `{"queue":"largest","items":[{"payload":{}},{"payload":${sized(256 * 1024 + 1)}}]}`;
    const reply = await bench.call('POST', '/v1/queue/batch/publish', body);
    expect(reply.body.error).toMatchObject({ code: 'MESSAGE_TOO_LARGE', param: 'items[1].payload' });
    expect(await bench.counts('largest')).toEqual([1, 0, 0, 0]);
  });

  const odd = [
    '{"b":1,"a":2,"b":3}',
    '{"n":12345678901234567890123,"f":1.10,"e":1E+2,"z":-0}',
    '{"s":"\\u00e9\\ud83d\\ude00\\u0000\\/","lone":"\\ud800"}',
    '{ "spaced" :\t[ 1 ,\n2 ] }',
    '{"__proto__":{"x":1},"constructor":{"prototype":1}}',
    '{"é😀":"ü","deep":[[[[{"payload":{"body":1}}]]]]}',
    '{"quote":"\\"}{\\\\","slash":"\\\\\\""}',
    '{}',
  ];

  test.each(odd)('%s comes back byte for byte from every call', async (payload) => {
    const name = `bytes-${odd.indexOf(payload)}`;
    await bench.createWithDlq(name, { max_retries: 1 });
    const piece = `"payload":${payload},"headers":${payload},"status"`;
    expect((await publish(name, payload, `,"headers":${payload}`)).text).toContain(piece);
    // `messages` is what `items` was called before.
    for (const list of ['items', 'messages']) {
      const batch = `{"${list}":[ { "headers":${payload} , "body":${payload}}], "queue":"${name}"}`;
      expect((await bench.call('POST', '/v1/queue/batch/publish', batch)).text).toContain(piece);
    }
    expect((await bench.call('GET', `/v1/queue/peek/${name}?limit=10`)).text.split(piece)).toHaveLength(4);
    const reply = await bench.call('POST', '/v1/queue/consume', { queue: name, max_messages: 10 });
    expect(reply.text.split(piece)).toHaveLength(4);
    for (const item of reply.body.data.items) await bench.nack(name, item.receipt_handle);
    expect((await bench.call('GET', `/v1/queue/dlq/list/${name}`)).text.split(piece)).toHaveLength(4);
  });
});
