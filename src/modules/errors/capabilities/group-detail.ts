import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { groupNotFound, groupNumber } from '../groups/group-change.ts';
import { readGroupDetail } from '../groups/group-detail.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const groupDetail = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/group_detail/{error_group_id}',
  summary: 'Shows an error group in full.',
  description:
    'The group, its latest event in full, whom and what it affects (users, releases, environments, tags), the last day hour by hour, comments and ' +
    'what was done about it.',
  keywords: ['issue details', 'affected users', 'error trend'],
  input: Type.Object({ error_group_id: groupIdField }),
  output: groupDetailSchema,
  errors: ['GROUP_NOT_FOUND'],
  examples: [
    {
      title: 'A group',
      before: [
        { capability: 'errors.capture', input: { message: 'disk full', tags: { region: 'eu' }, user_id: 'u-17' } },
      ],
      input: { error_group_id: '$0.error_group_id' },
      expect: { count: 1, user_count: 1, tag_distribution: { 'region:eu': 1 }, user_distribution: { 'u-17': 1 } },
    },
  ],
  async run({ ctx, input, state }) {
    const groupId = groupNumber(state, ctx.accountId, input.error_group_id);
    const data = await readGroupDetail(state, ctx.accountId, groupId);
    if (data === null) throw groupNotFound();
    return { data };
  },
});
