import { expect, test } from 'vitest';
import { readStatus } from './job-status.ts';

test.each([
  ['queued', 'queued'],
  ['IN_QUEUE', 'queued'],
  ['PENDING', 'queued'],
  ['in_progress', 'running'],
  ['In-Progress', 'running'],
  ['COMPLETED', 'succeeded'],
  ['succeeded', 'succeeded'],
  ['FAILED', 'failed'],
  ['canceled', 'cancelled'],
  ['CANCELLED', 'cancelled'],
  ['expired', 'expired'],
])("the vendor's %s is %s", (word, kind) => {
  expect(readStatus(word)).toEqual({ kind, warning: null });
});

test.each(['daydreaming', '', null, undefined, 7, { state: 'done' }])('%j means that it runs, and is told', (word) => {
  expect(readStatus(word)).toMatchObject({ kind: 'running', warning: expect.stringContaining('unknown status') });
});
