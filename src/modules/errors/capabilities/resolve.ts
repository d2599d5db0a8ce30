import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeGroup } from '../groups/group-change.ts';
import { setStatus } from '../groups/group-store.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const resolve = defineCapability<ErrorsState>()({
  id: 'errors.resolve',
  method: 'POST',
  path: '/v1/errors/resolve/{error_group_id}',
  summary: 'Resolves an error group.',
  description:
    'Marks the group as done; it is no longer ignored. A new event reopens it. Resolving a resolved group changes nothing.',
  input: Type.Object({ error_group_id: groupIdField }),
  output: groupDetailSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['GROUP_NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'Done',
      before: [{ capability: 'errors.capture', input: { message: 'disk full' } }],
      input: { error_group_id: '$0.error_group_id' },
      expect: { is_resolved: true, is_ignored: false },
    },
  ],
  run({ ctx, input, state }) {
    return changeGroup(ctx, state, input.error_group_id, async (tx, group) => {
      if (group.is_resolved) return null;
      await setStatus(tx, ctx.accountId, group.group_id, { isResolved: true, isIgnored: false });
      return { type: 'resolved', subject: null };
    });
  },
});
