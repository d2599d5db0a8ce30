import { expect, test } from 'vitest';
import { type Admission, admission } from '../../core/admission.ts';
import { PageViews } from './page-views.ts';

test('an address has its views a minute, a whole IPv6 customer the same ones; others are not touched', () => {
  const bounds: Admission = { ...admission, address: { ...admission.address, pagesPerMinute: 2 } };
  const visits = new PageViews(bounds);
  visits.count('2001:db8::1', 0);
  visits.count('2001:db8::2', 10);
  expect(() => visits.count('2001:db8::3', 20_000)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 40_000 }),
  );
  expect(() => visits.count('198.51.100.7', 20_000)).not.toThrow();
  expect(() => visits.count('2001:db8::3', 60_000)).not.toThrow();
});
