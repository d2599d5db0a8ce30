import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeGroup } from '../groups/group-change.ts';
import { setStatus } from '../groups/group-store.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const unresolve = defineCapability<ErrorsState>()({
  id: 'errors.unresolve',
  method: 'POST',
  path: '/v1/errors/unresolve/{error_group_id}',
  summary: 'Reopens a resolved error group.',
  description: 'Takes the resolution back. A group that is not resolved stays as it is.',
  input: Type.Object({ error_group_id: groupIdField }),
  output: groupDetailSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['GROUP_NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'Not done after all',
      before: [
        { capability: 'errors.capture', input: { message: 'disk full' } },
        { capability: 'errors.resolve', input: { error_group_id: '$0.error_group_id' } },
      ],
      input: { error_group_id: '$0.error_group_id' },
      expect: { is_resolved: false },
    },
  ],
  run({ ctx, input, state }) {
    return changeGroup(ctx, state, input.error_group_id, async (tx, group) => {
      if (!group.is_resolved) return null;
      await setStatus(tx, ctx.accountId, group.group_id, { isResolved: false, isIgnored: group.is_ignored });
      return { type: 'unresolved', subject: null };
    });
  },
});
