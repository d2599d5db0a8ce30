import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeGroup } from '../groups/group-change.ts';
import { setStatus } from '../groups/group-store.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const ignore = defineCapability<ErrorsState>()({
  id: 'errors.ignore',
  method: 'POST',
  path: '/v1/errors/ignore/{error_group_id}',
  summary: 'Ignores an error group.',
  description:
    'Events go on being counted, but no webhook is told of them and they do not reopen anything. The group is no longer resolved.',
  input: Type.Object({ error_group_id: groupIdField }),
  output: groupDetailSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['GROUP_NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'Known and harmless',
      before: [{ capability: 'errors.capture', input: { message: 'disk full' } }],
      input: { error_group_id: '$0.error_group_id' },
      expect: { is_ignored: true, is_resolved: false },
    },
  ],
  run({ ctx, input, state }) {
    return changeGroup(ctx, state, input.error_group_id, async (tx, group) => {
      if (group.is_ignored) return null;
      await setStatus(tx, ctx.accountId, group.group_id, { isResolved: false, isIgnored: true });
      return { type: 'ignored', subject: null };
    });
  },
});
