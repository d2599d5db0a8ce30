import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Ask, admit, type Funds, freeOf, type OpenGrant } from './admit.ts';

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

const grant: fc.Arbitrary<OpenGrant> = fc
  .tuple(fc.uuid(), fc.bigInt({ min: 0n, max: 500n }), fc.bigInt({ min: 0n, max: 500n }))
  .map(([grantId, free, reserved]) => ({ grantId, remaining: free + reserved, reserved }));
const budget = fc.option(
  fc.record({
    reason: fc.constantFrom('budget_daily' as const, 'budget_monthly' as const),
    cap: fc.bigInt({ min: 0n, max: 900n }),
    endsAtMs: fc.constant(5_000),
  }),
);
const funds: fc.Arbitrary<Funds> = fc.record({
  frozen: fc.constant(false),
  grants: fc.uniqueArray(grant, { maxLength: 5, selector: ({ grantId }) => grantId }),
  budget,
  committed: fc.bigInt({ min: 0n, max: 400n }),
  keyCaps: fc.uniqueArray(
    fc.record({
      keyId: fc.constantFrom('key_a', 'key_b'),
      cap: fc.bigInt({ min: 0n, max: 500n }),
      committed: fc.bigInt({ min: 0n, max: 300n }),
      endsAtMs: fc.constantFrom(null, 7_000),
    }),
    { selector: ({ keyId }) => keyId },
  ),
});
const asks: fc.Arbitrary<Ask[]> = fc.array(
  fc.record({
    keyId: fc.constantFrom('key_a', 'key_b', 'key_without_cap'),
    amount: fc.bigInt({ min: 0n, max: 300n }),
    mode: fc.constantFrom('charge' as const, 'charge' as const, 'hold' as const),
  }),
  { maxLength: 30 },
);

const holds = (property: (before: Funds, all: readonly Ask[], after: ReturnType<typeof admit>) => void) =>
  fc.assert(
    fc.property(funds, asks, (before, all) => property(before, all, admit(before, all))),
    { numRuns: 500 },
  );

describe('admission', () => {
  test('never overdraws a grant, nor touches what was reserved before', () => {
    holds((before, _all, after) => {
      after.grants.forEach((each, i) => {
        const old = before.grants[i] as OpenGrant;
        expect(
          each.remaining >= each.reserved && each.reserved >= old.reserved && each.remaining <= old.remaining,
        ).toBe(true);
      });
    });
  });

  test('admits nothing of a frozen wallet, whatever it costs', () => {
    holds((before, all) => {
      const after = admit({ ...before, frozen: true }, all);
      expect(after.verdicts.every((verdict) => !verdict.admitted && verdict.reason === 'frozen')).toBe(true);
      expect(after).toMatchObject({ charged: 0n, held: 0n, grants: before.grants });
    });
  });

  test('takes exactly what was admitted: the parts add up to the amounts, the amounts to the totals', () => {
    holds((before, all, after) => {
      const admitted = all.flatMap((ask, i) => {
        const verdict = after.verdicts[i];
        return verdict?.admitted ? [{ ask, parts: verdict.parts }] : [];
      });
      for (const { ask, parts } of admitted) {
        expect(sum(parts.map((part) => part.amount))).toBe(ask.amount);
        expect(parts.every((part) => part.amount > 0n)).toBe(true);
      }
      const total = (mode: Ask['mode']) =>
        sum(admitted.filter(({ ask }) => ask.mode === mode).map(({ ask }) => ask.amount));
      expect([after.charged, after.held]).toEqual([total('charge'), total('hold')]);
      const free = (grants: readonly OpenGrant[]) => sum(grants.map(freeOf));
      expect(free(before.grants) - free(after.grants)).toBe(after.charged + after.held);
    });
  });

  test('refuses only what the key’s cap, the budget or the money left at that point does not cover: no refusal blocks a smaller later call', () => {
    holds((before, all, after) => {
      let free = sum(before.grants.map(freeOf));
      let committed = before.committed;
      const spent = new Map(before.keyCaps.map((cap) => [cap.keyId, cap.committed]));
      const left = (cap: bigint, taken: bigint) => (cap > taken ? cap - taken : 0n);
      all.forEach((ask, i) => {
        const verdict = after.verdicts[i];
        const own = before.keyCaps.find(({ keyId }) => keyId === ask.keyId);
        const used = spent.get(ask.keyId) ?? 0n;
        const overOwn = own !== undefined && (own.cap === 0n || used + ask.amount > own.cap);
        const cap = before.budget?.cap;
        const overCap = cap !== undefined && (cap === 0n || committed + ask.amount > cap);
        expect(verdict?.admitted).toBe(!overOwn && !overCap && ask.amount <= free);
        if (verdict?.admitted) {
          free -= ask.amount;
          committed += ask.amount;
          if (own !== undefined) spent.set(ask.keyId, used + ask.amount);
          expect(verdict.spendableAfter).toBe(free);
        } else if (overOwn) {
          const endsAtMs = own?.endsAtMs;
          expect(verdict).toMatchObject({
            reason: 'key_cap',
            cap: own?.cap,
            left: left(own?.cap ?? 0n, used),
            endsAtMs,
          });
        } else if (overCap) {
          const reason = before.budget?.reason;
          expect(verdict).toMatchObject({ reason, cap, left: left(cap ?? 0n, committed), endsAtMs: 5_000 });
        } else expect(verdict).toMatchObject({ reason: 'balance', left: free, cap: null, endsAtMs: null });
      });
    });
  });

  test('admits nothing under a cap of zero, not even what costs nothing', () => {
    const of = { grants: [{ grantId: 'g', remaining: 1n, reserved: 0n }], frozen: false, committed: 0n };
    const none = { cap: 0n, endsAtMs: 5_000 };
    const keyCaps = [{ ...none, keyId: 'key_a', committed: 0n }];
    const wallets: Funds[] = [
      { ...of, budget: null, keyCaps },
      { ...of, budget: { ...none, reason: 'budget_daily' }, keyCaps: [] },
    ];
    const free: Ask[] = [{ keyId: 'key_a', amount: 0n, mode: 'charge' }];
    const reasons = wallets.map((each) => admit(each, free).verdicts[0]);
    expect(reasons).toMatchObject([
      { admitted: false, reason: 'key_cap', left: 0n },
      { admitted: false, reason: 'budget_daily', left: 0n },
    ]);
    expect(admit({ ...of, budget: null, keyCaps: [] }, free).verdicts[0]).toMatchObject({ admitted: true });
  });

  test('never takes a key beyond its cap, and says exactly what each key with a cap has spent', () => {
    holds((before, all, after) => {
      const admitted = all.filter((_ask, i) => after.verdicts[i]?.admitted);
      for (const { keyId, cap, committed } of before.keyCaps) {
        const of = (mode: Ask['mode']) =>
          sum(admitted.filter((ask) => ask.keyId === keyId && ask.mode === mode).map(({ amount }) => amount));
        const [charged, held] = [of('charge'), of('hold')];
        expect(charged + held === 0n || committed + charged + held <= cap).toBe(true);
        if (cap === 0n) expect(admitted.some((ask) => ask.keyId === keyId)).toBe(false);
        const spend = after.keySpends.find((each) => each.keyId === keyId);
        expect([spend?.charged ?? 0n, spend?.held ?? 0n]).toEqual([charged, held]);
      }
      expect(after.keySpends.every(({ keyId }) => before.keyCaps.some((cap) => cap.keyId === keyId))).toBe(true);
    });
  });

  test('never goes beyond the cap, and a cap of zero admits nothing', () => {
    holds((before, _all, after) => {
      if (before.budget === null) return;
      const used = after.charged + after.held;
      if (before.budget.cap === 0n) expect(after.verdicts.some((verdict) => verdict.admitted)).toBe(false);
      else expect(used === 0n || before.committed + used <= before.budget.cap).toBe(true);
    });
  });

  test('spends the grants in the order given', () => {
    holds((before, _all, after) => {
      // A grant is touched only when nothing is left in those before it.
      const touched = after.grants.map((each, i) => freeOf(each) < freeOf(before.grants[i] as OpenGrant));
      const last = touched.lastIndexOf(true);
      expect(after.grants.slice(0, Math.max(0, last)).every((each) => freeOf(each) === 0n)).toBe(true);
    });
  });
});
