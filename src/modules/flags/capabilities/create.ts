import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { change, writeFlags } from '../flags/change.ts';
import { checkedFlag, settingsOf, showFlag } from '../flags/definition.ts';
import { findFlag } from '../flags/store.ts';
import { CONTEXT, DEFINITION_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { flagFields, flagSchema, keyField, kindField } from '../schemas.ts';
import type { FlagsState } from '../state.ts';

export const create = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/create',
  summary: 'Creates a feature flag.',
  description:
    'A flag has variants, and `targeting` decides who gets which: a rule of flagd (JsonLogic with `fractional`, `sem_ver`, `starts_with`, `ends_with`) that answers ' +
    'the name of a variant. The same context gets the same variant always and everywhere. `{"fractional": [["on", 25], ["off", 75]]}` is on for a quarter ' +
    'of all targetingKeys. Evaluate it by flags.evaluate or by any OpenFeature SDK (OFREP). Free.',
  keywords: ['feature flag', 'feature toggle', 'kill switch', 'percentage rollout', 'launchdarkly create flag'],
  input: Type.Object({ key: keyField, type: kindField, ...flagFields }),
  output: flagSchema,
  bodyBytesMax: DEFINITION_BYTES_MAX + 16 * 1024,
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: {
    flags: '500 an account (standard tier), 5,000 (pro), 50,000 (enterprise); 64 KiB each, 32 MiB together.',
    rules: `What a rule may take at most, for any context up to ${CONTEXT.bytesMax / 1024} KiB, is reckoned when it is written.`,
  },
  examples: [
    {
      title: 'On for a quarter of the users',
      input: {
        ...{ key: 'new-checkout', type: 'boolean', variants: { on: true, off: false }, default_variant: 'off' },
        targeting: {
          fractional: [
            ['on', 25],
            ['off', 75],
          ],
        },
      },
      expect: { key: 'new-checkout', enabled: true, has_targeting: true },
    },
    {
      title: 'By an attribute',
      input: {
        ...{ key: 'banner', type: 'string', variants: { beta: 'Hello, tester', all: 'Hello' }, default_variant: 'all' },
        targeting: { if: [{ ends_with: [{ var: 'email' }, '@example.org'] }, 'beta', null] },
      },
    },
  ],
  run({ ctx, input, state }) {
    const flag = checkedFlag({
      ...{ key: input.key, kind: input.type, variants: input.variants, enabled: input.enabled ?? true },
      ...{ description: input.description || null, default_variant: input.default_variant ?? null },
      ...{ targeting: input.targeting ?? {}, metadata: input.metadata ?? {} },
    });
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const known = await findFlag(tx, ctx.accountId, flag.key);
      if (known !== null) {
        if (JSON.stringify({ ...settingsOf(known) }) === JSON.stringify(settingsOf({ ...known, ...flag })))
          return showFlag(known);
        throw problem('ALREADY_EXISTS', { param: 'key' });
      }
      const changes = { action: 'create' as const, saved: [flag], removed: [], bytes: flag.bytes, added: 1 };
      const revision = await change(tx, ctx, changes, nowMs);
      return showFlag({ ...flag, revision, created_at: nowMs, updated_at: nowMs });
    });
  },
});
