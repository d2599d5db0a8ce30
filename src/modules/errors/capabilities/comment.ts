import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { cleanText } from '../../../lib/clean-text.ts';
import { addComment } from '../groups/activity-store.ts';
import { changeGroup } from '../groups/group-change.ts';
import { COMMENT_BODY_BYTES_MAX, COMMENT_CHARACTERS_MAX } from '../limits.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const comment = defineCapability<ErrorsState>()({
  method: 'POST',
  path: '/v1/errors/comment/{error_group_id}',
  summary: 'Comments on an error group.',
  description: 'Adds a note for whoever looks at the group next.',
  keywords: ['comment on an issue', 'note on a bug'],
  input: Type.Object({
    error_group_id: groupIdField,
    text: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX, description: 'What to say.' }),
  }),
  output: groupDetailSchema,
  bodyBytesMax: COMMENT_BODY_BYTES_MAX,
  errors: ['GROUP_NOT_FOUND'],
  examples: [
    {
      title: 'What it was',
      before: [{ capability: 'errors.capture', input: { message: 'disk full' } }],
      input: { error_group_id: '$0.error_group_id', text: 'Log rotation was off; fixed in 1.4.3.' },
      expect: { comments: [{ text: 'Log rotation was off; fixed in 1.4.3.' }] },
    },
  ],
  run({ ctx, input, state }) {
    const { accountId } = ctx;
    const { id: keyId } = ctx.principal;
    const text = cleanText(input.text);
    return changeGroup(ctx, state, input.error_group_id, async (tx, { group_id: groupId }, nowMs) => {
      const id = await addComment(tx, { accountId, groupId, text, keyId }, nowMs);
      return { type: 'commented', subject: id };
    });
  },
});
