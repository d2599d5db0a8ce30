import { expect, test } from 'vitest';
import { pages } from '../../../test/support/console-pages.ts';
import { pageAt } from './address.ts';

test.each([
  ['', 'overview', {}],
  ['/queues', 'queues', {}],
  ['/queues/jobs', 'queue', { name: 'jobs' }],
  ['/queues/a%2Fb%20%C3%A9/dlq', 'queue_dlq', { name: 'a/b é' }],
  ['/operator/accounts/acct_1/refund/top_1', 'operator_refund', { id: 'acct_1', topup_id: 'top_1' }],
])('%s is the address of %s', (path, name, params) => {
  const found = pageAt(pages, path);
  expect([found?.page.name, found?.params]).toEqual([name, params]);
});

test.each([
  '/',
  '/none',
  '/queues/',
  '/queues/jobs/none',
  '/queues/%',
  '/queues/%c3/dlq',
  '//queues',
  '/queues/jobs/dlq/',
])('no page stands at %s', (path) => {
  expect(pageAt(pages, path)).toBeNull();
});

test('every page has an address of its own', () => {
  for (const page of pages) expect(pageAt(pages, page.path.replaceAll(/\{\w+\}/g, 'x'))?.page.name).toBe(page.name);
  expect(new Set(pages.map(({ name }) => name)).size).toBe(pages.length);
});
