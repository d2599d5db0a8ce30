import { expect, test } from 'vitest';
import { nearestField } from './nearest-field.ts';

const queue = ['name', 'dead_letter_queue', 'max_retries', 'visibility_timeout', 'message_group_id', 'wait_seconds'];

test.each([
  ['a typo', 'max_retires', 'max_retries'],
  ['words written together', 'maxRetries', 'max_retries'],
  ['words with hyphens', 'visibility-timeout', 'visibility_timeout'],
  ['initials', 'dlq', 'dead_letter_queue'],
  ['the last word', 'retries', 'max_retries'],
  ['one word more', 'queue_name', 'name'],
  ['without the unit', 'wait', 'wait_seconds'],
  ['the first of several words', 'message', null],
  ['nothing like it', 'payload', null],
  ['a letter', 'n', null],
  ['no characters', '', null],
  ['a name of every object', 'constructor', null],
])('%s: %j finds %j', (_, sent, found) => {
  expect(nearestField(sent, queue)).toBe(found);
});

test('a member written with a dot finds its object', () => {
  expect(nearestField('filter.environment', ['filter', 'cursor'])).toBe('filter[environment]');
});

test('of two names that end alike none is named', () => {
  expect(nearestField('url', ['task_url', 'webhook_url'])).toBeNull();
});

test('a very long name costs no more than a short one', () => {
  expect(nearestField('x_'.repeat(500_000), queue)).toBeNull();
});
