// What belongs to account A does not exist for account B: every id of A gets from B exactly the answer of a random id.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountRows } from '../support/account-rows.ts';
import { byId, callCapability, capabilities, type Input } from '../support/capabilities.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

/** Kinds of names that calls take, with one of A's and one that nobody has. The lengths agree, as far as a name shows its length. */
interface Names {
  readonly queue: string;
  readonly dlq: string;
  readonly message: string;
  readonly receipt: string;
  readonly deadMessage: string;
  readonly key: string;
  readonly redrive: string;
  readonly project: string;
}

let service: TestService;
let a: TestAccount;
let b: TestAccount;
let own: Names;
/** Cursors of A's lists, by capability. */
const cursors = new Map<string, string>();

const random: Names = {
  queue: 'zz-source',
  dlq: 'zz-dead',
  message: `qmsg_${'1'.repeat(22)}`,
  receipt: `rcpt_${'1'.repeat(28)}`,
  deadMessage: `qmsg_${'2'.repeat(22)}`,
  key: 'key_1111111111111111111111',
  redrive: 'rdr_1111111111111111111111',
  project: 'proj_1111111111111111111111',
};

beforeAll(async () => {
  service = await startTestService();
  [a, b] = await Promise.all([createTestAccount(service.core), createTestAccount(service.core)]);
  own = await fill(client(service.url, a.secret));
  await client(service.url, b.secret)('POST', '/v1/queue/create', { name: 'of-b' });
});
afterAll(() => service.stop());

/** Gives A one of everything, and every list of it two pages. */
async function fill(call: Client): Promise<Names> {
  const act = async (id: string, input: Input) => {
    const { body } = await callCapability(call, byId(id), input);
    expect(body, id).toMatchObject({ ok: true });
    return body.data;
  };
  await act('queue.create', { name: 'aa-dead' });
  await act('queue.create', { name: 'aa-source', dead_letter_queue: 'aa-dead', max_retries: 1 });
  const kill = async () => {
    await act('queue.publish', { queue: 'aa-source', payload: {} });
    const { items } = await act('queue.consume', { queue: 'aa-source' });
    await act('queue.nack', { queue: 'aa-source', receipt_handle: items[0].receipt_handle });
    return items[0].message_id as string;
  };
  const [deadMessage] = [await kill(), await kill()];
  await act('queue.dlq.redrive', { queue: 'aa-source', message_ids: [random.message] });
  const redrive = await act('queue.dlq.redrive', { queue: 'aa-source', message_ids: [random.message] });
  await act('queue.publish', { queue: 'aa-source', payload: {}, idempotency_key: 'shared' });
  const { items } = await act('queue.consume', { queue: 'aa-source' });
  const key = await act('account.keys.create', { name: 'second', idempotency_key: 'shared' });
  for (const id of [
    'queue.list',
    'queue.dlq.list',
    'queue.dlq.redrives',
    'account.keys.list',
    'account.ledger.list',
    'account.events.list',
  ]) {
    const queue = id.startsWith('queue.dlq') ? { queue: 'aa-source' } : {};
    cursors.set(id, (await act(id, { ...queue, limit: 1 })).next_cursor);
  }
  return {
    queue: 'aa-source',
    dlq: 'aa-dead',
    message: items[0].message_id,
    receipt: items[0].receipt_handle,
    deadMessage,
    key: key.id,
    redrive: redrive.redrive_id,
    project: key.project_id,
  };
}

type Aim = (names: Names) => Input;

/** Every way in which a call can name something. Capabilities that name nothing stand with an empty list. */
const aims: Readonly<Record<string, readonly Aim[]>> = {
  'account.balance': [],
  'account.budget.get': [],
  'account.budget.set': [],
  'account.keys.create': [(names) => ({ project_id: names.project })],
  'account.keys.list': [],
  'account.keys.revoke': [(names) => ({ id: names.key })],
  'account.keys.rotate': [(names) => ({ id: names.key }), (names) => ({ id: names.key, grace_hours: 0 })],
  'account.keys.suspected_compromise': [
    (names) => ({ id: names.key, confirmed_leak: true }),
    (names) => ({ id: names.key }),
  ],
  'account.keys.update': [
    (names) => ({ id: names.key, name: 'taken' }),
    (names) => ({ id: names.key, scopes: ['queue'] }),
  ],
  'account.tier': [],
  'account.usage': [(names) => ({ key_id: names.key })],
  'account.usage.timeseries': [(names) => ({ key_id: names.key })],
  'account.ledger.list': [(names) => ({ key_id: names.key })],
  'account.events.list': [],
  'queue.create': [(names) => ({ name: 'of-b-2', dead_letter_queue: names.dlq })],
  'queue.get': [(names) => ({ queue: names.queue })],
  'queue.list': [],
  'queue.update': [
    (names) => ({ queue: names.queue, max_retries: 9 }),
    (names) => ({ queue: 'of-b', dead_letter_queue: names.dlq }),
  ],
  'queue.delete': [(names) => ({ queue: names.queue }), (names) => ({ queue: names.dlq })],
  'queue.purge': [(names) => ({ queue: names.queue })],
  'queue.stats': [(names) => ({ queue: names.queue })],
  'queue.publish': [(names) => ({ queue: names.queue, payload: {} })],
  'queue.batch.publish': [(names) => ({ queue: names.queue, messages: [{ payload: {} }] })],
  'queue.consume': [(names) => ({ queue: names.queue }), (names) => ({ queue: names.dlq })],
  'queue.ack': [
    (names) => ({ queue: names.queue, message_id: names.message }),
    (names) => ({ queue: 'of-b', message_id: names.message }),
    (names) => ({ queue: 'of-b', receipt_handle: names.receipt }),
    (names) => ({ queue: 'of-b', receipts: [names.receipt, names.message] }),
  ],
  'queue.nack': [
    (names) => ({ queue: names.queue, receipt_handle: names.receipt }),
    (names) => ({ queue: 'of-b', message_id: names.message }),
    (names) => ({ queue: 'of-b', receipt_handle: names.receipt, requeue: false }),
    (names) => ({ queue: 'of-b', receipts: [names.receipt] }),
  ],
  'queue.extend': [
    (names) => ({ queue: names.queue, receipt_handle: names.receipt, visibility_timeout: 0 }),
    (names) => ({ queue: 'of-b', receipt_handle: names.receipt, visibility_timeout: 0 }),
    (names) => ({ queue: 'of-b', message_id: names.message, visibility_timeout: 60 }),
  ],
  'queue.peek': [(names) => ({ queue: names.queue })],
  'queue.dlq.list': [(names) => ({ queue: names.queue })],
  'queue.dlq.redrive': [
    (names) => ({ queue: names.queue }),
    (names) => ({ queue: 'of-b', message_ids: [names.deadMessage] }),
  ],
  'queue.dlq.redrives': [(names) => ({ queue: names.queue })],
  'queue.dlq.redrive_cancel': [(names) => ({ redrive_id: names.redrive })],
  discovery: [],
  'discovery.capability': [],
};

/** The answer without what differs from call to call, and with one word for each name. */
function comparable(reply: Reply, names: Names): unknown {
  const { data, error, metadata } = reply.body;
  const volatile = [
    'request_id',
    'trace_id',
    'timestamp',
    'latency_ms',
    'balance_usd',
    'redrive_id',
    'created_at',
    'finished_at',
    'updated_at',
    'available_at',
  ];
  const text = JSON.stringify({ status: reply.status, data, error, metadata }, (name, value) =>
    volatile.includes(name) ? undefined : value,
  );
  return JSON.parse(Object.entries(names).reduce((all, [kind, name]) => all.replaceAll(name, `<${kind}>`), text));
}

const cases = Object.entries(aims).flatMap(([id, list]) =>
  list.map((aim) => ({ id, aim, shown: JSON.stringify(aim(random)) })),
);

describe('from account B', () => {
  test('every capability says how it names things', () => {
    expect(Object.keys(aims).sort()).toEqual(capabilities.map(({ id }) => id).sort());
  });

  test.each(cases)('$id $shown: the answer of a random id, and A unchanged', async ({ id, aim }) => {
    const call = client(service.url, b.secret);
    const before = await accountRows(service.core.db, a.accountId);
    const foreign = await callCapability(call, byId(id), aim(own));
    const unknown = await callCapability(call, byId(id), aim(random));
    expect(comparable(foreign, own)).toEqual(comparable(unknown, random));
    expect(Object.keys(foreign.body.error ?? {})).toEqual(Object.keys(unknown.body.error ?? {}));
    expect(await accountRows(service.core.db, a.accountId)).toEqual(before);
    expect(foreign.text).not.toContain(a.accountId);
  });

  test.each([...capabilities].filter(({ input }) => 'cursor' in input.properties).map(({ id }) => id))(
    '%s: a cursor of A is no cursor',
    async (id) => {
      const cursor = cursors.get(id);
      expect(cursor).toEqual(expect.any(String));
      const queue = id.startsWith('queue.dlq') ? { queue: 'of-b' } : {};
      const { status, body } = await callCapability(client(service.url, b.secret), byId(id), { ...queue, cursor });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'INVALID_CURSOR', 'cursor']);
      const list = id.startsWith('queue.dlq') ? { queue: 'aa-source' } : {};
      expect((await callCapability(client(service.url, a.secret), byId(id), { ...list, cursor })).status).toBe(200);
    },
  );

  test.each([
    ['queue.publish', { queue: 'of-b', payload: {} }],
    ['account.keys.create', { name: 'second' }],
  ])("%s: A's idempotency key is free for B", async (id, input) => {
    const { status, body } = await callCapability(client(service.url, b.secret), byId(id), {
      ...input,
      idempotency_key: 'shared',
    });
    expect([status, body.metadata.idempotent_replay]).toEqual([200, false]);
    expect(JSON.stringify(body)).not.toContain(own.key);
  });

  test('the lists of B hold nothing of A', async () => {
    const call = client(service.url, b.secret);
    const listed = capabilities.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    for (const capability of listed) {
      const { text } = await callCapability(call, capability, {});
      for (const name of [a.accountId, a.keyId, ...Object.values(own)]) expect(text, capability.id).not.toContain(name);
    }
  });
});
