// Flags as they are kept: the operations that list, show and delete them.
import { deleteOf, getOf, listOf, type Resource } from '../../../kit/resource.ts';
import {
  type FlagRow,
  type FlagSummary,
  flagSchema,
  keyField,
  showFlag,
  showSummary,
  summarySchema,
} from '../flags/flag.ts';
import { flagTable, listSummaries, recordChange, removeFlag } from '../flags/store.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';

export const flags: Resource<FlagRow, FlagsState, typeof flagSchema> = {
  ...flagTable,
  ...{ noun: 'flag', keyName: 'key', keyField, output: flagSchema, show: showFlag },
  notFound: () => problem('FLAG_NOT_FOUND', { param: 'key' }),
  async remove(tx, ctx, key, nowMs) {
    const removed = await removeFlag(tx, ctx, key);
    if (removed.length > 0) await recordChange(tx, ctx, { action: 'delete', removed, nowMs });
    return removed.length > 0;
  },
};

/** What examples begin with. */
export const switchMade = [
  {
    capability: 'flags.create',
    input: { key: 'search', type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' },
  },
];

export const get = getOf(flags, {
  path: '/v1/flags/get/{key}',
  description: 'The flag with its variants and its rule. To ask who gets what, evaluate it (flags.evaluate).',
  keywords: ['read feature flag', 'show flag rules'],
  examples: [{ title: 'One flag', before: switchMade, input: { key: 'search' }, expect: { type: 'boolean' } }],
});

export const list = listOf(
  {
    ...{ noun: 'flag', output: summarySchema, list: listSummaries },
    ...{ show: (row: FlagSummary) => showSummary(row), positionOf: ({ key }: FlagSummary) => key },
  },
  {
    path: '/v1/flags/list',
    description: 'Flags by key, without variants and rules: flags.get shows those of one, flags.export all.',
    keywords: ['list feature flags', 'all toggles'],
    examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
  },
);

export const remove = deleteOf<FlagRow, FlagsState>(flags, {
  path: '/v1/flags/delete/{key}',
  description:
    'Evaluations of the key answer FLAG_NOT_FOUND from now on: code uses its own default. Its history stays.',
  keywords: ['remove feature flag', 'archive flag'],
  examples: [{ title: 'One that is not there', input: { key: 'old-banner' }, expect: { deleted: false } }],
  after: ({ ctx, state }) => state.served.changed(ctx.accountId),
});
