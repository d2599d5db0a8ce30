import { expect, test } from 'vitest';
import type { EventDetail } from './draft.ts';
import { packDetail, unpackDetail } from './event-detail.ts';

const detailOf = (extra: Record<string, unknown>): EventDetail => ({
  exception: null,
  breadcrumbs: [],
  context: {},
  extra,
  sdk: null,
  runtime: null,
  request: null,
  user: null,
  fingerprint_source: 'default',
  idempotency_key: null,
});

test('a short detail is stored as its JSON', () => {
  const detail = detailOf({ note: 'naïve 🚀' });
  expect(JSON.parse(packDetail(detail).toString('utf8'))).toEqual(detail);
  expect(unpackDetail(packDetail(detail))).toEqual(detail);
});

test('a long one takes less room than its JSON and comes back as it was', () => {
  const detail = detailOf({ lines: Array.from({ length: 2_000 }, (_, n) => `line ${n} of naïve 🚀 text`) });
  const stored = packDetail(detail);
  expect(stored.length).toBeLessThan(JSON.stringify(detail).length / 3);
  expect(unpackDetail(stored)).toEqual(detail);
});
