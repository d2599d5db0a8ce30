// The search answers questions in the words of those who ask: by the index and the ranking that browsers use.
import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { modules } from '../../../modules/index.ts';
import { composeManifest } from '../discovery.ts';
import { find, indexOf } from './assets/find.js';
import { searchEntries } from './search-entries.ts';

const PLACE_MAX = 3;

/** Made once, as a browser does when somebody opens the search. */
const index = indexOf(MiniSearch, searchEntries(composeManifest(modules)));

const questions: readonly (readonly [question: string, page: string])[] = [
  ['what happens when credit runs out', 'guides/money'],
  ['credit', 'guides/money'],
  ['how do I add credit', 'guides/money'],
  ['upgrade', 'guides/upgrading'],
  ['how to update to a new version', 'guides/upgrading'],
  ['GDPR', 'guides/deleting-data'],
  ["delete a user's data", 'guides/deleting-data'],
  ['right to be forgotten', 'guides/deleting-data'],
  ['rate limits', 'guides/limits'],
  ['429 too many requests', 'guides/limits'],
  ['retention', 'guides/limits'],
  ['how long are logs kept', 'guides/limits'],
  ['timeout', 'guides/limits'],
  ['webhook signature', 'guides/webhooks'],
  ['verify a webhook in python', 'guides/webhooks'],
  ['invoice', 'guides/money'],
  ['refund a customer', 'guides/payments'],
  ['backup', 'guides/backup'],
  ['restore the database', 'guides/backup'],
  ['price of an email', 'guides/prices'],
  ['how much does it cost', 'guides/prices'],
  ['write a plugin', 'guides/writing-modules'],
  ['run the tests', 'guides/contributing'],
  ['rotate an API key', 'guides/keys'],
  ['leaked key', 'guides/keys'],
  ['spending limit for an agent', 'guides/money'],
  ['two-factor code by SMS', 'guides/sms'],
  ['boto3', 'guides/s3'],
  ['environment variables', 'guides/self-hosting'],
  ['https certificate', 'guides/tls'],
  ['login with Google', 'guides/sign-in'],
  ['dead letters', 'guides/queues'],
  ['run a job every night', 'guides/schedules'],
  ['alerts in Prometheus', 'guides/watching'],
  ['queue.publish', 'capabilities/queue.publish'],
  ['INSUFFICIENT_CREDIT', 'errors/INSUFFICIENT_CREDIT'],
];

test.each(questions)('%s → %s', (question, page) => {
  const pages = find(index, question).map(({ id }) => id.replace(/^\/docs\//, '').replace(/#.*/, ''));
  expect(pages.slice(0, PLACE_MAX)).toContain(page);
});

test('what is named so comes first', () => {
  expect(find(index, 'errors.list')[0]?.id).toBe('/docs/capabilities/errors.list');
  expect(find(index, 'rate_limited')[0]?.id).toBe('/docs/errors/RATE_LIMITED');
});
