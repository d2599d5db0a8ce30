import { expect, test } from 'vitest';
import { rolloutOf } from './rollout.ts';

const asks = { ends_with: [{ var: 'email' }, '@example.org'] };

test.each([
  [{}, 0, { off: 100 }],
  [{ fractional: Object.entries({ on: 10, off: 90 }) }, 0, { on: 10, off: 90 }],
  [{ fractional: Object.entries({ on: 1, off: 3 }) }, 0, { on: 25, off: 75 }],
  [{ fractional: [{ var: 'email' }, ['on'], ['off']] }, 0, { on: 50, off: 50 }],
  // One share alone is all of them.
  [{ fractional: [['on', 10]] }, 0, { on: 100 }],
  [{ if: [asks, 'on'] }, 1, { off: 100 }],
  [{ if: [asks, 'on', asks, 'off', 'on'] }, 2, { on: 100 }],
  [{ if: [asks, 'on', { fractional: Object.entries({ on: 25, off: 75 }) }] }, 1, { on: 25, off: 75 }],
])('%j: %s conditions, then %j', (targeting, conditions, rollout) => {
  expect(rolloutOf(targeting, 'off')).toEqual({ conditions, rollout });
});

test.each([
  [{ var: 'plan' }],
  [{ if: [asks, 'on', { var: 'plan' }] }],
  [{ fractional: [[{ var: 'plan' }, 10]] }],
  [{ fractional: [['on', { var: 'share' }]] }],
])('%j is no rollout that words tell', (targeting) => {
  expect(rolloutOf(targeting, 'off')).toEqual({ conditions: null, rollout: null });
});

test('without a default variant, whom no condition picks gets none', () => {
  expect(rolloutOf({ if: [asks, 'on'] }, null)).toEqual({ conditions: 1, rollout: {} });
});
