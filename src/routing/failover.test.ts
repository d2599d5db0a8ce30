import { describe, expect, test } from 'vitest';
import type { FailoverReason } from '../vendors/call/port.ts';
import { type Candidate, nextStep, type Outcome } from './failover.ts';

const candidate = (vendor: string, quoteNanos: bigint): Candidate => ({ vendor, model: `${vendor}-1`, quoteNanos });
const first = candidate('acme', 100n);
const second = candidate('bolt', 120n);
const third = candidate('cosa', 130n);
const chains = { pinned: [first], bare: [first, second], auto: [first, second, third] } as const;

const refused = (reason: (Outcome & { kind: 'refused' })['reason'], retryAfterMs?: number): Outcome => ({
  kind: 'refused',
  reason,
  message: `because of ${reason}`,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const leaving: FailoverReason[] = ['VENDOR_DOWN', 'VENDOR_TIMEOUT', 'RATE_LIMIT_VENDOR', 'VENDOR_AUTH_ERROR'];
const ending = ['VALIDATION_FAILED', 'VENDOR_ERROR', 'CONTENT_REFUSED'] as const;

describe.each(Object.entries(chains))('%s', (_name, chain) => {
  test('begins with the first', () => {
    expect(nextStep([...chain], [])).toEqual({ kind: 'try', candidate: first, position: 0 });
  });

  test('the first that accepts, or may have, ends the walk without failover_info', () => {
    expect(nextStep([...chain], [{ kind: 'accepted' }])).toEqual({
      kind: 'accepted',
      candidate: first,
      failover: null,
    });
    expect(nextStep([...chain], [{ kind: 'unknown' }])).toEqual({ kind: 'unknown', candidate: first, failover: null });
  });

  test.each(leaving)('%s leads to the next, or is the error when there is none', (reason) => {
    const step = nextStep([...chain], [refused(reason, 700)]);
    const next = chain[1];
    if (next !== undefined) expect(step).toEqual({ kind: 'try', candidate: next, position: 1 });
    else expect(step).toEqual({ kind: 'failed', code: reason, message: `because of ${reason}`, retryAfterMs: 700 });
  });

  test.each(ending)('%s ends the request at once', (reason) => {
    expect(nextStep([...chain], [refused(reason)])).toEqual({
      kind: 'failed',
      code: reason,
      message: `because of ${reason}`,
    });
  });

  test.each(leaving)('when all are left the error is what the first was left for: %s', (reason) => {
    const others = chain.slice(1).map(() => refused('VENDOR_AUTH_ERROR'));
    expect(nextStep([...chain], [refused(reason), ...others])).toMatchObject({ kind: 'failed', code: reason });
  });
});

describe('failover_info', () => {
  test.each([
    [1, second, [refused('VENDOR_TIMEOUT')]],
    [2, third, [refused('VENDOR_TIMEOUT'), refused('RATE_LIMIT_VENDOR')]],
  ])('after %i left behind: the first, who served, both quotes, why the first was left', (depth, served, outcomes) => {
    const info = {
      primaryVendor: 'acme',
      primaryModel: 'acme-1',
      actualModel: `${served.vendor}-1`,
      costAtPrimaryNanos: 100n,
      costAtActualNanos: served.quoteNanos,
      reason: 'VENDOR_TIMEOUT',
      depth,
    };
    for (const kind of ['accepted', 'unknown'] as const) {
      const step = nextStep([...chains.auto], [...outcomes, { kind }]);
      expect(step).toEqual({ kind, candidate: served, failover: info });
    }
  });

  test('a refusal by a later vendor ends the request with its own reason', () => {
    const step = nextStep([...chains.auto], [refused('VENDOR_DOWN'), refused('CONTENT_REFUSED')]);
    expect(step).toMatchObject({ kind: 'failed', code: 'CONTENT_REFUSED' });
  });
});

test('nothing is asked that does not stand in the chain', () => {
  expect(() => nextStep([first], [refused('VENDOR_DOWN'), { kind: 'accepted' }])).toThrow(RangeError);
});
