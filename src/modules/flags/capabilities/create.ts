import { defineCapability } from '../../../kit/capability.ts';
import { changedFields, checkedFlag, flagInput, flagSchema, showFlag } from '../flags/flag.ts';
import { flagTable, recordChange, writeFlags } from '../flags/store.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';

export const create = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/create',
  summary: 'Creates a feature flag.',
  description:
    'A flag has variants, and `targeting` decides who gets which: a rule of flagd (JsonLogic with `fractional`, `sem_ver`, `starts_with`, `ends_with`) that answers ' +
    'the name of a variant. The same context gets the same variant always and everywhere. Evaluate it by flags.evaluate or by any OpenFeature SDK (OFREP). Free.',
  keywords: ['feature flag', 'feature toggle', 'kill switch', 'percentage rollout', 'launchdarkly create flag'],
  input: flagInput,
  output: flagSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: {
    flags: '500 an account (standard tier), 5,000 (pro), 50,000 (enterprise); 64 KiB each, 32 MiB together.',
    rules: '100,000 steps for the costliest context, reckoned when the rule is written.',
  },
  examples: [
    {
      title: 'On for testers, and for a quarter of all others',
      input: {
        ...{ key: 'new-checkout', type: 'boolean', variants: { on: true, off: false }, default_variant: 'off' },
        targeting: {
          if: [
            { ends_with: [{ var: 'email' }, '@example.org'] },
            'on',
            {
              fractional: [
                ['on', 25],
                ['off', 75],
              ],
            },
          ],
        },
      },
      expect: { key: 'new-checkout', enabled: true, has_targeting: true },
    },
  ],
  run({ ctx, input, state }) {
    const flag = checkedFlag(input);
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const known = await flagTable.find(tx, ctx, flag.key);
      if (known !== null && known.type === flag.type && changedFields(known, flag).length === 0) return showFlag(known);
      if (known !== null) throw problem('ALREADY_EXISTS', { param: 'key' });
      const revision = await recordChange(tx, ctx, { action: 'create', saved: [flag], nowMs });
      return showFlag({ ...flag, revision, created_at: nowMs, updated_at: nowMs });
    });
  },
});
