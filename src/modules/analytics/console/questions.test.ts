import { expect, test } from 'vitest';
import { askedBy, isAskable } from './questions.ts';

const asked = (query: string) => askedBy(new URLSearchParams(query), 'day');

test.each([
  ['', 'trends', { math: 'total', interval: 'day' }],
  ['events=a,%20b&people=on', 'trends', { events: ['a', 'b'], math: 'uniques', interval: 'day' }],
  ['event=a&event=&breakdown=plan', 'trends', { events: ['a'], math: 'total', interval: 'day', breakdown: 'plan' }],
  ['steps=a,b', 'funnel', { steps: [{ event: 'a' }, { event: 'b' }], window_seconds: 14 * 86_400 }],
  ['ask=funnel&step=a&window_days=1', 'funnel', { steps: [{ event: 'a' }], window_seconds: 86_400 }],
  ['ask=retention&start_event=a&width=week&periods=99', 'retention', { start_event: 'a', period: 'week', periods: 8 }],
  ['ask=constructor', 'trends', { math: 'total', interval: 'day' }],
])('%s asks %s', (query, kind, input) => {
  expect(asked(query)).toEqual({ kind, input });
});

test('a funnel of one step is not asked', () => {
  expect([isAskable(asked('ask=funnel&step=a')), isAskable(asked('ask=funnel&step=a&step=b'))]).toEqual([false, true]);
});
