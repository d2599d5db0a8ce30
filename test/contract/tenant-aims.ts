// Every kind of name that calls take, and every way in which a capability names something.
import type { Input } from '../support/capabilities.ts';

/** Kinds of names that calls take, with one of A's and one that nobody has. The lengths agree, as far as a name shows its length. */
export interface Names {
  readonly queue: string;
  readonly dlq: string;
  readonly message: string;
  readonly receipt: string;
  readonly deadMessage: string;
  readonly key: string;
  readonly redrive: string;
  readonly subscription: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly job: string;
  readonly errorEvent: string;
  readonly errorGroup: string;
  readonly collection: string;
  readonly vector: string;
  readonly project: string;
}

/** Names that nobody has. */
export const random: Names = {
  queue: 'zz-source',
  dlq: 'zz-dead',
  message: `qmsg_${'1'.repeat(22)}`,
  receipt: `rcpt_${'1'.repeat(28)}`,
  deadMessage: `qmsg_${'2'.repeat(22)}`,
  key: 'key_1111111111111111111111',
  redrive: 'rdr_1111111111111111111111',
  subscription: 'sub_1111111111111111111111',
  webhook: 'wh_1111111111111111111111',
  delivery: 'whd_1111111111111111111111',
  job: 'cron_1111111111111111111111',
  errorEvent: `evt_err_${'1'.repeat(22)}`,
  errorGroup: `errgrp_${'1'.repeat(22)}`,
  collection: 'zz-docs',
  vector: 'zz-1',
  project: 'proj_1111111111111111111111',
};

export type Aim = (names: Names) => Input;

/** Every way in which a call can name something. Capabilities that name nothing stand with an empty list. */
export const aims: Readonly<Record<string, readonly Aim[]>> = {
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
  'account.webhooks.register': [],
  'account.webhooks.list': [],
  'account.webhooks.get': [(names) => ({ id: names.webhook })],
  'account.webhooks.update': [
    (names) => ({ id: names.webhook, description: 'taken' }),
    (names) => ({ id: names.webhook, secret: null, status: 'disabled' }),
  ],
  'account.webhooks.delete': [(names) => ({ id: names.webhook })],
  'account.webhooks.deliveries': [(names) => ({ id: names.webhook })],
  'account.webhooks.test': [(names) => ({ id: names.webhook })],
  'account.webhooks.redeliver': [(names) => ({ delivery_id: names.delivery })],
  'cron.create': [],
  'cron.list': [],
  'cron.get': [(names) => ({ id: names.job })],
  'cron.runs': [(names) => ({ id: names.job })],
  'cron.update': [
    (names) => ({ id: names.job, name: 'taken' }),
    (names) => ({ id: names.job, task: 'https://example.org/other', secret: null }),
  ],
  'cron.pause': [(names) => ({ id: names.job })],
  'cron.resume': [(names) => ({ id: names.job })],
  'cron.delete': [(names) => ({ id: names.job })],
  'errors.capture': [],
  'errors.message': [],
  'errors.list': [(names) => ({ filter: { error_group_id: names.errorGroup } })],
  'errors.search': [(names) => ({ q: 'failure', filter: { error_group_id: names.errorGroup } })],
  'errors.get': [(names) => ({ event_id: names.errorEvent })],
  'errors.groups': [],
  'errors.group_detail': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.events': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.resolve': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.unresolve': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.ignore': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.unignore': [(names) => ({ error_group_id: names.errorGroup })],
  'errors.assign': [(names) => ({ error_group_id: names.errorGroup, assigned_to: 'taken' })],
  'errors.comment': [(names) => ({ error_group_id: names.errorGroup, text: 'taken' })],
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
  'queue.subscribe': [(names) => ({ queue: names.queue, url: 'https://example.org/jobs' })],
  'queue.subscriptions': [(names) => ({ queue: names.queue })],
  'queue.unsubscribe': [(names) => ({ subscription_id: names.subscription })],
  'vector.collection.create': [],
  'vector.collection.get': [(names) => ({ collection: names.collection })],
  'vector.collection.list': [],
  'vector.collection.delete': [(names) => ({ collection: names.collection })],
  'vector.upsert': [(names) => ({ collection: names.collection, vectors: [{ id: names.vector, embedding: [1, 0] }] })],
  'vector.query': [
    (names) => ({ collection: names.collection, embedding: [1, 0] }),
    (names) => ({ collection: names.collection, queries: [{ embedding: [1, 0] }] }),
  ],
  'vector.fetch': [
    (names) => ({ collection: names.collection, ids: [names.vector] }),
    (names) => ({ collection: 'of-b', ids: [names.vector], include_values: true }),
  ],
  'vector.list': [
    (names) => ({ collection: names.collection }),
    (names) => ({ collection: 'of-b', prefix: names.vector }),
  ],
  'vector.update': [
    (names) => ({ collection: names.collection, id: names.vector, metadata: { taken: true } }),
    (names) => ({ collection: 'of-b', id: names.vector, metadata: null }),
  ],
  'vector.delete': [
    (names) => ({ collection: names.collection, ids: [names.vector] }),
    (names) => ({ collection: 'of-b', ids: [names.vector] }),
  ],
  'vector.delete_by_filter': [(names) => ({ collection: names.collection, filter: { kind: 'of-a' } })],
  discovery: [],
  'discovery.capability': [],
  'discovery.event': [],
};
