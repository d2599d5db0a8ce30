import { expect, test } from 'vitest';
import { dayText, secondsTime } from './day.ts';
import type { Visit } from './visit.ts';

test('an instant has its day and its second where the reader is', () => {
  const visit = { preferences: { zone: 'Asia/Tokyo' } } as Visit;
  const instant = '2026-11-26T23:13:42.512Z';
  expect(dayText(visit, instant)).toBe('Friday, 27 November 2026');
  expect(secondsTime(visit, instant).text).toBe(
    `<time datetime="${instant}" title="2026-11-26 23:13:42 UTC">08:13:42</time>`,
  );
});
