import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeGroup } from '../groups/group-change.ts';
import { setStatus } from '../groups/group-store.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const unignore = defineCapability<ErrorsState>()({
  id: 'errors.unignore',
  method: 'POST',
  path: '/v1/errors/unignore/{error_group_id}',
  summary: 'Stops ignoring an error group.',
  description: 'The group is unresolved again and its events are told. A group that is not ignored stays as it is.',
  input: Type.Object({ error_group_id: groupIdField }),
  output: groupDetailSchema,
  price: 'free',
  scope: 'write',
  idempotent: true,
  errors: ['GROUP_NOT_FOUND'],
  events: [],
  examples: [
    {
      title: 'Look at it again',
      before: [
        { capability: 'errors.capture', input: { message: 'disk full' } },
        { capability: 'errors.ignore', input: { error_group_id: '$0.error_group_id' } },
      ],
      input: { error_group_id: '$0.error_group_id' },
      expect: { is_ignored: false },
    },
  ],
  run({ ctx, input, state }) {
    return changeGroup(ctx, state, input.error_group_id, async (tx, group) => {
      if (!group.is_ignored) return null;
      await setStatus(tx, ctx.accountId, group.group_id, { isResolved: group.is_resolved, isIgnored: false });
      return { type: 'unignored', subject: null };
    });
  },
});
