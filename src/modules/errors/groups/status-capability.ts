// Shared definition of the four operations that change a group's status by hand. They differ only in their condition and the status that they
// set.
import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { groupDetailSchema, groupIdField } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';
import type { ActivityType } from './activity-store.ts';
import { changeGroup } from './group-change.ts';
import { type GroupRow, setStatus } from './group-store.ts';

export interface StatusOperation {
  readonly path: `/v1/errors/${string}/{error_group_id}`;
  readonly summary: string;
  readonly description: string;
  readonly keywords: readonly string[];
  /** Of a group that was captured, and then went through `after`. */
  readonly example: {
    readonly title: string;
    readonly after?: string;
    readonly expect: Readonly<Record<string, boolean>>;
  };
  /** What the log of the group says of it. */
  readonly activity: ActivityType;
  /** Of a group that is so already nothing changes. */
  readonly isSo: (group: GroupRow) => boolean;
  readonly status: (group: GroupRow) => { readonly isResolved: boolean; readonly isIgnored: boolean };
}

export function statusCapability({
  path,
  summary,
  description,
  keywords,
  example,
  activity,
  isSo,
  status,
}: StatusOperation) {
  const captured = { capability: 'errors.capture', input: { message: 'disk full' } };
  const group = { error_group_id: '$0.error_group_id' };
  const { title, after, expect } = example;
  return defineCapability<ErrorsState>()({
    method: 'POST',
    path,
    summary,
    description,
    keywords,
    input: Type.Object({ error_group_id: groupIdField }),
    output: groupDetailSchema,
    errors: ['GROUP_NOT_FOUND'],
    examples: [
      {
        title,
        before: after === undefined ? [captured] : [captured, { capability: after, input: group }],
        input: group,
        expect,
      },
    ],
    run({ ctx, input, state }) {
      return changeGroup(ctx, state, input.error_group_id, async (tx, found) => {
        if (isSo(found)) return null;
        await setStatus(tx, ctx.accountId, found.group_id, status(found));
        return { type: activity, subject: null };
      });
    },
  });
}
