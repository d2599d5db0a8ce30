import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import { change, changedFieldsOf, writeFlags } from '../flags/change.ts';
import { checkedFlag, settingsOf, showFlag } from '../flags/definition.ts';
import { flags } from '../flags/resource.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { flagFields, flagSchema, keyField } from '../schemas.ts';
import type { FlagsState } from '../state.ts';

export const update = defineCapability<FlagsState>()({
  method: 'PATCH',
  path: '/v1/flags/update/{key}',
  summary: 'Changes a feature flag.',
  description:
    'Changes what is sent and leaves the rest; variants, targeting and metadata are replaced whole. With `revision`, that of the flag as you know it, the ' +
    'change is refused if somebody changed the flag meanwhile. This process answers by it at once, others within 1 s. The type stays.',
  keywords: ['turn feature on', 'turn flag off', 'change rollout percentage', 'kill switch off'],
  input: Type.Object({
    key: keyField,
    ...flagFields,
    variants: Type.Optional(flagFields.variants),
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Changes it only if its revision still is this one.' }),
    ),
  }),
  output: flagSchema,
  bodyBytesMax: DEFINITION_BYTES_MAX + 16 * 1024,
  errors: ['FLAG_NOT_FOUND', 'STATE_CONFLICT', 'QUOTA_EXCEEDED'],
  examples: [
    {
      title: 'Off for everybody',
      before: [
        {
          capability: 'flags.create',
          input: { key: 'search', type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' },
        },
      ],
      input: { key: 'search', default_variant: 'off', revision: '$0.revision' },
      expect: { default_variant: 'off' },
    },
  ],
  run: ({ ctx, input, state }) =>
    writeFlags(ctx, state, async (tx, { nowMs }) => {
      const before = await requireRow(flags, tx, ctx, input.key);
      if (input.revision !== undefined && BigInt(input.revision) !== before.revision)
        throw problem('STATE_CONFLICT', {
          param: 'revision',
          message: `The flag was changed meanwhile: its revision is ${before.revision}. Read it again, then change it.`,
        });
      const old = settingsOf(before);
      const flag = checkedFlag({
        ...old,
        variants: input.variants ?? old.variants,
        enabled: input.enabled ?? old.enabled,
        description: input.description === undefined ? old.description : input.description || null,
        default_variant: input.default_variant === undefined ? old.default_variant : input.default_variant,
        targeting: input.targeting === undefined ? old.targeting : (input.targeting ?? {}),
        metadata: input.metadata ?? old.metadata,
      });
      const changedFields = changedFieldsOf(before, flag);
      if (changedFields.length === 0) return showFlag(before);
      const changes = { saved: [flag], removed: [], bytes: flag.bytes - before.bytes, added: 0, changedFields };
      const revision = await change(tx, ctx, { action: 'update', ...changes }, nowMs);
      return showFlag({ ...before, ...flag, revision, updated_at: nowMs });
    }),
});
