// create, get, list, update, delete.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sequenceMs } from '../../src/lib/sequence.ts';
import { newQueueId } from '../../src/modules/queue/queues/settings.ts';
import { findQueue, removeQueue } from '../../src/modules/queue/queues/store.ts';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

describe('create', () => {
  test('queues of one millisecond never share an id, not even with a deleted one', async () => {
    const own = await bench.withAccount();
    const { accountId } = own.account;
    for (const name of ['kept', 'deleted']) await own.create(name);
    const find = (name: string) => findQueue(bench.service.core.db, accountId, name);
    const kept = (await find('kept'))?.queue_id as bigint;
    const deleted = (await find('deleted'))?.queue_id as bigint;
    await bench.service.core.db.transaction(async (tx) => {
      const doomed = await findQueue(tx, accountId, 'deleted');
      if (doomed !== null) await removeQueue(tx, doomed);
      for (const taken of [kept, deleted]) {
        const numbers = [taken & 0x3fffffn, taken & 0x3fffffn, 7n].map(Number);
        const drawn = await newQueueId(tx, accountId, sequenceMs(taken), () => numbers.shift() as number);
        expect([drawn & 0x3fffffn, numbers.length]).toEqual([7n, 0]);
      }
    });
  });

  test('a new queue has the documented defaults, costs nothing and tells no one', async () => {
    const queue = await bench.costing(0, {}, () => bench.create('defaults'));
    expect(queue).toEqual({
      name: 'defaults',
      type: 'standard',
      account_id: bench.account.accountId,
      message_retention_days: 14,
      max_message_size_kb: 256,
      visibility_timeout_default: 300,
      delivery_delay_seconds: 0,
      enable_priority: false,
      sqs_name: null,
      dlq_name: null,
      dead_letter_queue: null,
      max_receive_count: 3,
      max_retries: 3,
      created_at: expect.stringMatching(/Z$/),
      updated_at: queue.created_at,
    });
    expect(await bench.ok('GET', '/v1/queue/get/defaults')).toEqual(queue);
  });

  test('every setting is taken as sent', async () => {
    await bench.create('all-dead');
    const settings = {
      message_retention_days: 30,
      max_message_size_kb: 1,
      visibility_timeout_default: 0,
      delivery_delay_seconds: 900,
      enable_priority: true,
    };
    const queue = await bench.create('all', { ...settings, dead_letter_queue: 'all-dead', max_retries: 7 });
    expect(queue).toMatchObject({ ...settings, dlq_name: 'all-dead', max_receive_count: 7 });
  });

  test('the same settings again answer the queue, other settings or another type are 409', async () => {
    const queue = await bench.create('twice', { max_retries: 5 });
    expect(await bench.create('twice', { max_retries: 5 })).toEqual(queue);
    for (const other of [{ max_retries: 6 }, { max_retries: 5, type: 'fifo' }, {}]) {
      const error = await bench.fails('POST', '/v1/queue/create', { name: 'twice', ...other });
      expect(error).toMatchObject({ code: 'ALREADY_EXISTS', http_status: 409 });
    }
    expect(await bench.ok('GET', '/v1/queue/get/twice')).toEqual(queue);
  });

  test.each([
    ['a name of 2 characters', { name: 'ab' }, 'name'],
    ['a name of 81 characters', { name: 'a'.repeat(81) }, 'name'],
    ['a capital letter', { name: 'Jobs' }, 'name'],
    ['an unknown type', { name: 'bad', type: 'lifo' }, 'type'],
    ['retention 0', { name: 'bad', message_retention_days: 0 }, 'message_retention_days'],
    ['retention 31', { name: 'bad', message_retention_days: 31 }, 'message_retention_days'],
    ['size 257', { name: 'bad', max_message_size_kb: 257 }, 'max_message_size_kb'],
    ['visibility 43201', { name: 'bad', visibility_timeout_default: 43_201 }, 'visibility_timeout_default'],
    ['delay 901', { name: 'bad', delivery_delay_seconds: 901 }, 'delivery_delay_seconds'],
    ['max_retries 0', { name: 'bad', max_retries: 0 }, 'max_retries'],
    ['max_retries 1.5', { name: 'bad', max_retries: 1.5 }, 'max_retries'],
    ['priority on FIFO', { name: 'bad', type: 'fifo', enable_priority: true }, 'enable_priority'],
    ['itself as dead-letter queue', { name: 'bad', dead_letter_queue: 'bad' }, 'dead_letter_queue'],
  ])('%s is refused and makes nothing', async (_, body, param) => {
    const error = await bench.fails('POST', '/v1/queue/create', body);
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', http_status: 400, param });
    expect((await bench.call('GET', '/v1/queue/get/bad')).status).toBe(404);
  });

  test('names of 3 and of 80 characters are good', async () => {
    await bench.create('a.b');
    await bench.create(`z${'-_.'.repeat(26)}z`);
  });

  test('a dead-letter queue that does not exist is 404 on dead_letter_queue', async () => {
    const error = await bench.fails('POST', '/v1/queue/create', { name: 'orphan', dead_letter_queue: 'nowhere' });
    expect(error).toMatchObject({ code: 'QUEUE_NOT_FOUND', http_status: 404, param: 'dead_letter_queue' });
  });

  test('a dead-letter queue of the other type is refused', async () => {
    await bench.create('ordered', { type: 'fifo' });
    const error = await bench.fails('POST', '/v1/queue/create', { name: 'mixed', dead_letter_queue: 'ordered' });
    expect(error).toMatchObject({ http_status: 400, param: 'dead_letter_queue' });
  });

  test('an account has no more queues than its tier allows', async () => {
    const small = await bench.withAccount();
    await small.service.core.db.query(
      {
        name: 'test_many_queues',
        text: `INSERT INTO queue.queue (account_id, name, queue_id, type, message_retention_days, max_message_size_kb,
                 visibility_timeout_default, delivery_delay_seconds, enable_priority, has_bands, max_receive_count, created_at, updated_at)
               SELECT $1, 'q' || i, i, 'standard', 14, 256, 300, 0, false, false, 3, now(), now() FROM generate_series(1, 999) i`,
      },
      [small.account.accountId],
    );
    await small.create('the-thousandth');
    expect(await small.fails('POST', '/v1/queue/create', { name: 'one-more' })).toMatchObject({
      code: 'QUOTA_EXCEEDED',
    });
    await small.create('the-thousandth');
  });
});

describe('update', () => {
  test('what is absent stays, what is sent changes, and updated_at moves', async () => {
    await bench.create('upd-dead');
    const before = await bench.create('upd', { dead_letter_queue: 'upd-dead', max_retries: 4 });
    const after = await bench.costing(0, {}, () => bench.update('upd', { visibility_timeout_default: 12 }));
    expect(after).toEqual({ ...before, visibility_timeout_default: 12, updated_at: after.updated_at });
    expect(after.updated_at >= before.updated_at).toBe(true);
  });

  test('what a queue answered may be sent back, by create and by update', async () => {
    await bench.create('back-dead');
    const sent = { dead_letter_queue: 'back-dead', max_retries: 9 };
    const { dlq_name, max_receive_count, ...more } = await bench.create('back-1', sent);
    expect(more).toMatchObject(sent);
    const settings = { dlq_name, max_receive_count };
    expect(settings).toEqual({ dlq_name: 'back-dead', max_receive_count: 9 });
    expect(await bench.create('back-2', settings)).toMatchObject(settings);
    await bench.create('back-3');
    expect(await bench.update('back-3', settings)).toMatchObject(settings);
    expect(await bench.update('back-3', { dlq_name: null })).toMatchObject({ dlq_name: null, max_receive_count: 9 });
    const both = { ...settings, dead_letter_queue: 'back-dead', max_retries: 9 };
    expect(await bench.update('back-3', both)).toMatchObject(settings);
  });

  test.each([
    ['a queue', { dead_letter_queue: 'two-dead', dlq_name: 'two' }, 'INVALID_REQUEST', 'dlq_name'],
    ['a queue and none', { dead_letter_queue: null, dlq_name: 'two-dead' }, 'INVALID_REQUEST', 'dlq_name'],
    ['a number', { max_retries: 1, max_receive_count: 2 }, 'INVALID_REQUEST', 'max_receive_count'],
    ['a queue that is not there', { dlq_name: 'nowhere' }, 'QUEUE_NOT_FOUND', 'dlq_name'],
  ])(
    'two names with two values, and a mistake in either, are told by the name that was sent: %s',
    async (_, sent, code, param) => {
      for (const name of ['two', 'two-dead']) await bench.create(name);
      expect(await bench.fails('PATCH', '/v1/queue/update/two', sent)).toMatchObject({ code, param });
      expect(await bench.fails('POST', '/v1/queue/create', { name: 'two-new', ...sent })).toMatchObject({
        code,
        param,
      });
    },
  );

  test('dead_letter_queue null removes it, and only it', async () => {
    await bench.createWithDlq('detach', { max_retries: 9 });
    expect(await bench.update('detach', { dead_letter_queue: null })).toMatchObject({
      dlq_name: null,
      max_receive_count: 9,
    });
  });

  test.each([
    ['name', { name: 'renamed' }],
    ['type', { type: 'fifo' }],
  ])('%s cannot be changed: the queue keeps it', async (field, body) => {
    await bench.create(`keeps-${field}`);
    const error = await bench.fails('PATCH', `/v1/queue/update/keeps-${field}`, body);
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: 'unknown_field', param: field });
    expect(await bench.ok('GET', `/v1/queue/get/keeps-${field}`)).toMatchObject({
      name: `keeps-${field}`,
      type: 'standard',
    });
  });

  test('dead-letter queues close no cycle, directly or through others', async () => {
    await bench.create('ring-c');
    await bench.create('ring-b', { dead_letter_queue: 'ring-c' });
    await bench.create('ring-a', { dead_letter_queue: 'ring-b' });
    for (const target of ['ring-a', 'ring-b', 'ring-c']) {
      const error = await bench.fails('PATCH', '/v1/queue/update/ring-c', { dead_letter_queue: target });
      expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'dead_letter_queue' });
    }
    expect((await bench.ok('GET', '/v1/queue/get/ring-c')).dlq_name).toBeNull();
  });

  test('a missing queue is 404, a bad value changes nothing', async () => {
    expect(await bench.fails('PATCH', '/v1/queue/update/missing', {})).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
    const queue = await bench.create('steady');
    await bench.fails('PATCH', '/v1/queue/update/steady', { max_retries: 0, message_retention_days: 2 });
    expect(await bench.ok('GET', '/v1/queue/get/steady')).toEqual(queue);
  });
});

describe('delete', () => {
  test('the queue and its messages are gone at once; a queue of that name starts empty', async () => {
    await bench.create('gone');
    await bench.batch('gone', [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
    const [held] = await bench.consume('gone', { max_messages: 1 });
    const deleted = await bench.costing(0, {}, () => bench.ok('DELETE', '/v1/queue/delete/gone'));
    expect(deleted).toEqual({ queue: 'gone', deleted: true, status: null });
    for (const [method, path, body] of [
      ['GET', '/v1/queue/get/gone'],
      ['GET', '/v1/queue/stats/gone'],
      ['GET', '/v1/queue/peek/gone'],
      ['POST', '/v1/queue/publish', { queue: 'gone', payload: {} }],
      ['POST', '/v1/queue/consume', { queue: 'gone' }],
      ['POST', '/v1/queue/ack', { queue: 'gone', receipt_handle: held.receipt_handle }],
      ['POST', '/v1/queue/nack', { queue: 'gone', receipt_handle: held.receipt_handle }],
      ['POST', '/v1/queue/extend', { queue: 'gone', receipt_handle: held.receipt_handle, visibility_timeout: 1 }],
    ] as const)
      expect(await bench.fails(method, path, body)).toMatchObject({ code: 'QUEUE_NOT_FOUND', http_status: 404 });
    await bench.create('gone');
    expect(await bench.counts('gone')).toEqual([0, 0, 0, 0]);
    expect(await bench.ack('gone', held.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.consume('gone')).toEqual([]);
  });

  test('a missing queue, and that of another account, answer the same: nothing there', async () => {
    const other = await bench.withAccount();
    await other.create('theirs');
    for (const name of ['theirs', 'never-made'])
      expect(await bench.ok('DELETE', `/v1/queue/delete/${name}`)).toEqual({
        queue: name,
        deleted: false,
        status: 'not_found',
      });
    expect(await other.ok('GET', '/v1/queue/get/theirs')).toMatchObject({ name: 'theirs' });
  });

  test('a queue that serves as a dead-letter queue stays until it does not', async () => {
    await bench.createWithDlq('served');
    const error = await bench.fails('DELETE', '/v1/queue/delete/served-dead');
    expect(error).toMatchObject({ code: 'STATE_CONFLICT', http_status: 409 });
    await bench.update('served', { dead_letter_queue: null });
    expect(await bench.ok('DELETE', '/v1/queue/delete/served-dead')).toMatchObject({ deleted: true });
  });
});

test('list pages through all queues by name, each once, and refuses a foreign cursor', async () => {
  const own = await bench.withAccount();
  const names = ['aaa', 'bbb', 'ccc', 'ddd', 'eee'];
  for (const name of [...names].reverse()) await own.create(name);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { name: string }[]; next_cursor: string | null; has_more: boolean } = await own.ok(
      'GET',
      `/v1/queue/list?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    expect(page.has_more).toBe(page.next_cursor !== null);
    seen.push(...page.items.map((queue) => queue.name));
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(names);
  const { next_cursor: cursor } = await own.ok('GET', '/v1/queue/list?limit=2');
  expect(await bench.fails('GET', `/v1/queue/list?cursor=${cursor}`)).toMatchObject({ code: 'INVALID_CURSOR' });
});
