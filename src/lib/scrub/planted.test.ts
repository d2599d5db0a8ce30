// One secret of every kind, in every place of an event: nothing of it may be left.
import { describe, expect, test } from 'vitest';
import { byLook, byName, byPrefix, byText, key, random } from '../../../test/errors/planted.ts';
import { scrubEvent } from './scrub.ts';

describe.each([
  ['by name', byName],
  ['by text', byText],
  ['by look', byLook],
  ['by prefix', byPrefix],
])('%s', (_kind, planted) => {
  test.each(planted)('%s', (_name, event, secrets) => {
    const sent = JSON.stringify(event);
    const kept = JSON.stringify(scrubEvent(event));
    for (const secret of [secrets].flat()) {
      expect(sent).toContain(JSON.stringify(secret).slice(1, -1));
      expect(kept).not.toContain(secret);
    }
    expect(kept).toContain('[scrubbed]');
    expect(JSON.stringify(event)).toBe(sent);
  });
});

test('what stands around a secret stays', () => {
  const message =
    'user bob password=swordfish, card 4111-1111-1111-1111, postgres://bob:x@db/shop, Bearer abc123def456!';
  expect(scrubEvent({ message }).message).toBe(
    'user bob password=[scrubbed], card [scrubbed], postgres://bob:[scrubbed]@db/shop, Bearer [scrubbed]!',
  );
});

test('a title cut from a text with a secret is cut from the clean text', () => {
  const secret = key('gh', 'p_', random);
  const message = `${'x'.repeat(100)} ${secret} tail`;
  const { title } = scrubEvent({ title: message.slice(0, 120), message });
  expect(title).toBe(`${'x'.repeat(100)} [scrubbed] tail`);
});

test('members whose names become the same are all kept', () => {
  const user = { 'a@example.com': 1, 'b@example.com': 2, '[scrubbed] 2': 3 };
  expect(Object.values(scrubEvent({ user }).user).sort()).toEqual([1, 2, 3]);
});
