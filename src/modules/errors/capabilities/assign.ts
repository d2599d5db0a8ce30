import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { changeGroup } from '../groups/group-change.ts';
import { setAssignee } from '../groups/group-store.ts';
import { LABEL_CHARACTERS_MAX } from '../limits.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const assign = defineCapability<ErrorsState>()({
  method: 'POST',
  path: '/v1/errors/assign/{error_group_id}',
  summary: 'Assigns an error group.',
  description: 'Notes who looks after the group: any name of a person or an agent, null for nobody.',
  keywords: ['assign issue to a person', 'owner of a bug', 'triage', 'hand a bug to a colleague'],
  input: Type.Object({
    error_group_id: groupIdField,
    assigned_to: orNull<string>(
      { type: 'string', minLength: 1, maxLength: LABEL_CHARACTERS_MAX },
      'Who looks after it; null for nobody.',
    ),
  }),
  output: groupDetailSchema,
  errors: ['GROUP_NOT_FOUND'],
  examples: [
    {
      title: 'To an agent',
      before: [{ capability: 'errors.capture', input: { message: 'disk full' } }],
      input: { error_group_id: '$0.error_group_id', assigned_to: 'storage-agent' },
      expect: { assigned_to: 'storage-agent' },
    },
  ],
  run({ ctx, input, state }) {
    const to = input.assigned_to === null ? null : cleanText(input.assigned_to);
    return changeGroup(ctx, state, input.error_group_id, async (tx, group) => {
      if (group.assigned_to === to) return null;
      await setAssignee(tx, ctx.accountId, group.group_id, to);
      return { type: 'assigned', subject: to };
    });
  },
});
