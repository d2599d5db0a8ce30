import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import {
  changedFields,
  changedSettings,
  checkedFlag,
  definitionOf,
  flagSchema,
  keyField,
  showFlag,
} from '../flags/flag.ts';
import { recordChange, writeFlags } from '../flags/store.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';
import { flags, switchMade } from './kept.ts';

export const update = defineCapability<FlagsState>()({
  method: 'PATCH',
  path: '/v1/flags/update/{key}',
  summary: 'Changes a feature flag.',
  description:
    'Changes what is sent and leaves the rest; variants, targeting and metadata are replaced whole. This process answers by it at once, others within 1 s. The type stays.',
  keywords: ['turn feature on', 'turn flag off', 'change rollout percentage', 'kill switch off'],
  input: Type.Object({
    key: keyField,
    ...changedSettings,
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: 'As you read it: refused if somebody changed the flag meanwhile.' }),
    ),
  }),
  output: flagSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  errors: ['FLAG_NOT_FOUND', 'STATE_CONFLICT', 'QUOTA_EXCEEDED'],
  examples: [
    {
      title: 'Off for everybody',
      before: switchMade,
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
      const flag = checkedFlag({ ...before, ...definitionOf(before), ...input });
      const changed = changedFields(before, flag);
      if (changed.length === 0) return showFlag(before);
      const change = { action: 'update', saved: [flag], changedFields: changed, nowMs } as const;
      const revision = await recordChange(tx, ctx, change);
      return showFlag({ ...before, ...flag, revision, updated_at: nowMs });
    }),
});
