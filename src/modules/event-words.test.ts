import { expect, test } from 'vitest';
import type { EventRecord } from '../kit/event-kind.ts';
import { modules } from './index.ts';

const kinds = modules.flatMap(({ events = [] }) => events);

test.each(kinds.map((kind) => [kind.type, kind] as const))('%s has words of its own', (_, { words, example }) => {
  const { object, ...beside } = example;
  const record = object as EventRecord;
  const texts = [words?.one(record, beside), words?.many?.(record, 12) ?? '12', words?.path?.(record, beside) ?? '/'];
  for (const text of texts) expect(text).not.toMatch(/^$|undefined|null|NaN|\[object/);
  expect(texts[0]?.endsWith('.')).toBe(false);
});

test('events are told with what matters', () => {
  const told = (type: string, more: EventRecord = {}, beside?: EventRecord) => {
    const { words, example } = kinds.find((kind) => kind.type === type) ?? expect.fail(type);
    return words?.one({ ...(example.object as EventRecord), ...more }, beside ?? example);
  };
  expect(told('topup.succeeded')).toBe('Paid $10.00 by card');
  expect(told('topup.failed')).toBe('Top-up of $10.00 expired unpaid');
  expect(told('wallet.low_balance')).toBe('Balance low: $0.97 left');
  expect(told('wallet.expiring_soon', { days_left: 1 })).toBe('$1.25 of credit expires in 1 day');
  expect(told('account.updated')).toBe('Tier changed from standard to pro');
  expect(told('account.updated', { name: 'east' }, { previous: { name: null } })).toBe('Account renamed to east');
  const asked = { reason: 'approval_requested', approval_id: 'apr_1', capability: 'queue.delete' };
  expect(told('account.updated', {}, asked)).toBe('A call of queue.delete waits for approval');
  const { words } = kinds.find(({ type }) => type === 'account.updated') ?? expect.fail('there is no such event');
  expect(words?.path?.({}, asked)).toBe('/approvals/apr_1');
  expect(told('cron.failed')).toBe('Schedule nightly failed: HTTP 503');
  expect(told('cron.executed', { job_name: null, job_id: 'cron_1' })).toBe('Schedule cron_1 ran');
  expect(told('video.job.failed')).toBe('Video failed: VENDOR_ERROR, “A paper boat on a pond.”');
  expect(told('error.captured', { is_new_group: true })).toBe('New error: disk full');
  expect(told('error.captured')).toBe('Error came back: disk full');
  expect(told('queue.dlq')).toBe('Queue jobs: message moved to dead-letter queue jobs-dead after 3 deliveries');
});
