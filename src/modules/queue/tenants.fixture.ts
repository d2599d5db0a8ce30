// Tenant-isolation fixture of queues and messages, for the contract tests: creates them, and lists calls of another account that name them.
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

const nobody = {
  queue: 'zz-source',
  dlq: 'zz-dead',
  message: `qmsg_${'1'.repeat(22)}`,
  receipt: `rcpt_${'1'.repeat(28)}`,
  deadMessage: `qmsg_${'2'.repeat(22)}`,
  redrive: 'rdr_1111111111111111111111',
  subscription: 'sub_1111111111111111111111',
};

/** A message that its queue has given up. */
async function kill({ act }: Tenant): Promise<string> {
  await act('queue.publish', { queue: 'aa-source', payload: {} });
  const { items } = await act('queue.consume', { queue: 'aa-source' });
  await act('queue.nack', { queue: 'aa-source', receipt_handle: items[0].receipt_handle });
  return items[0].message_id;
}

export const tenants: TenantFixture = {
  first: 'queue.create',
  nobody,
  async fill(tenant) {
    const { act } = tenant;
    await act('queue.create', { name: 'aa-dead' });
    await act('queue.create', { name: 'aa-source', dead_letter_queue: 'aa-dead', max_retries: 1 });
    const [deadMessage] = [await kill(tenant), await kill(tenant)];
    const redrives = () => act('queue.dlq.redrive', { queue: 'aa-source', message_ids: [nobody.message] });
    const [redrive] = [await redrives(), await redrives()];
    await act('queue.publish', { queue: 'aa-source', payload: {}, idempotency_key: 'shared' });
    const { items } = await act('queue.consume', { queue: 'aa-source' });
    // Nothing in the queue is due: nothing is pushed while the rows of the account are watched.
    const subscribe = () => act('queue.subscribe', { queue: 'aa-source', url: 'https://example.org/jobs' });
    const [subscription] = [await subscribe(), await subscribe()];
    return {
      queue: 'aa-source',
      dlq: 'aa-dead',
      message: items[0].message_id,
      receipt: items[0].receipt_handle,
      deadMessage,
      redrive: redrive.redrive_id,
      subscription: subscription.subscription_id,
    };
  },
  async fillOther({ act }) {
    await act('queue.create', { name: 'of-b' });
    return { queue: 'of-b' };
  },
  aims: {
    'queue.create': [(names) => ({ name: 'of-b-2', dead_letter_queue: names.dlq })],
    'queue.update': [
      (names) => ({ queue: names.queue, max_retries: 9 }),
      (names) => ({ queue: 'of-b', dead_letter_queue: names.dlq }),
    ],
    'queue.delete': [(names) => ({ queue: names.queue }), (names) => ({ queue: names.dlq })],
    'queue.publish': [(names) => ({ queue: names.queue, payload: {} })],
    'queue.batch.publish': [(names) => ({ queue: names.queue, items: [{ payload: {} }] })],
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
    'queue.dlq.redrive': [
      (names) => ({ queue: names.queue }),
      (names) => ({ queue: 'of-b', message_ids: [names.deadMessage] }),
    ],
    'queue.dlq.redrive_cancel': [(names) => ({ redrive_id: names.redrive })],
    'queue.subscribe': [(names) => ({ queue: names.queue, url: 'https://example.org/jobs' })],
    'queue.unsubscribe': [(names) => ({ subscription_id: names.subscription })],
  },
  keyed: [['queue.publish', { queue: 'of-b', payload: {} }]],
};
