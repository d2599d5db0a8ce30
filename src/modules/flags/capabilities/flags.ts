// Operations on stored flags: create, update, list, get, delete, and the history of changes.
import Type from 'typebox';
import { statement } from '../../../db/statement.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { instant, orNull } from '../../../kit/fields.ts';
import { deleteOf, getOf, type Listed, listOf, type Resource, requireRow } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import * as flag from '../flags/flag.ts';
import { flagTable, listSummaries, recordChange, writeFlags } from '../flags/store.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../serving/served-flags.ts';

const flags: Resource<flag.FlagRow, FlagsState, typeof flag.flagSchema> = {
  ...flagTable,
  noun: 'flag',
  keyName: 'key',
  keyField: flag.keyField,
  output: flag.flagSchema,
  show: flag.showFlag,
  notFound: () => problem('FLAG_NOT_FOUND', { param: 'key' }),
  async remove(tx, ctx, key, nowMs) {
    const wasThere = await flagTable.remove(tx, ctx, key);
    if (wasThere) await recordChange(tx, ctx, { action: 'delete', removed: [key], nowMs });
    return wasThere;
  },
};

/** What examples begin with. */
export const switchMade = [
  {
    capability: 'flags.create',
    input: { key: 'search', type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' },
  },
];

export const create = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/create',
  summary: 'Creates a feature flag.',
  description:
    'A flag has variants, and `targeting` decides who gets which: a rule of flagd (JsonLogic with `fractional`, `sem_ver`, `starts_with`, `ends_with`) that answers ' +
    'the name of a variant. The same context gets the same variant always and everywhere. Evaluate it by flags.evaluate or by any OpenFeature SDK (OFREP). Free.',
  keywords: ['feature flag', 'feature toggle', 'kill switch', 'percentage rollout', 'launchdarkly create flag'],
  input: flag.flagInput,
  output: flag.flagSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  errors: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  limits: {
    flags: '500 an account (standard tier), 5,000 (pro), 50,000 (enterprise); 64 KiB each, 32 MiB together.',
    rules: '100,000 steps for the costliest context, reckoned when the rule is written.',
  },
  examples: [
    {
      title: 'On for testers, and for a quarter of all others',
      input: {
        key: 'new-checkout',
        type: 'boolean',
        variants: { on: true, off: false },
        default_variant: 'off',
        targeting: {
          if: [
            { ends_with: [{ var: 'email' }, '@example.org'] },
            'on',
            { fractional: Object.entries({ on: 25, off: 75 }) },
          ],
        },
      },
      expect: { key: 'new-checkout', enabled: true, has_targeting: true },
    },
  ],
  run({ ctx, input, state }) {
    const made = flag.checkedFlag(input);
    return writeFlags(ctx, state, async (tx, { nowMs }) => {
      const known = await flagTable.find(tx, ctx, made.key);
      if (known !== null && known.type === made.type && flag.changedFields(known, made).length === 0)
        return flag.showFlag(known);
      if (known !== null) throw problem('ALREADY_EXISTS', { param: 'key' });
      const revision = await recordChange(tx, ctx, { action: 'create', saved: [made], nowMs });
      return flag.showFlag({ ...made, revision, created_at: nowMs, updated_at: nowMs });
    });
  },
});

export const update = defineCapability<FlagsState>()({
  method: 'PATCH',
  path: '/v1/flags/update/{key}',
  summary: 'Changes a feature flag.',
  description:
    'Changes what is sent and leaves the rest; variants, targeting and metadata are replaced whole. This process answers by it at once, others within 1 s. The type stays.',
  keywords: ['turn feature on', 'turn flag off', 'change rollout percentage', 'kill switch off'],
  input: Type.Object({
    key: flag.keyField,
    ...flag.changedSettings,
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: 'As you read it: refused if somebody changed the flag meanwhile.' }),
    ),
  }),
  output: flag.flagSchema,
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
      const made = flag.changedFlag(before, input);
      const changedFields = flag.changedFields(before, made);
      if (changedFields.length === 0) return flag.showFlag(before);
      const revision = await recordChange(tx, ctx, { action: 'update', saved: [made], changedFields, nowMs });
      return flag.showFlag({ ...before, ...made, revision, updated_at: nowMs });
    }),
});

export const get = getOf(flags, {
  path: '/v1/flags/get/{key}',
  description: 'The flag with its variants and its rule. To ask who gets what, evaluate it (flags.evaluate).',
  keywords: ['read feature flag', 'show flag rules'],
  examples: [{ title: 'One flag', before: switchMade, input: { key: 'search' }, expect: { type: 'boolean' } }],
});

export const list = listOf(
  {
    noun: 'flag',
    output: flag.listedSchema,
    list: listSummaries,
    show: flag.showListed,
    positionOf: ({ key }: flag.ListedFlag) => key,
  },
  {
    path: '/v1/flags/list',
    description:
      'Flags by key, with the rollout of each but without variants and rules: flags.get shows those of one, flags.export all. `rollout` and `conditions` are null for rules over 4 KiB.',
    keywords: ['list feature flags', 'all toggles'],
    examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
  },
);

export const remove = deleteOf<flag.FlagRow, FlagsState>(flags, {
  path: '/v1/flags/delete/{key}',
  description:
    'Evaluations of the key answer FLAG_NOT_FOUND from now on: code uses its own default. Its history stays.',
  keywords: ['remove feature flag', 'archive flag'],
  examples: [{ title: 'One that is not there', input: { key: 'old-banner' }, expect: { deleted: false } }],
  after: ({ ctx, state }) => state.served.noteChange(ctx.accountId),
});

const listChanges = statement(
  'flags_list_changes',
  `SELECT revision, action, actor, changed_fields, flag, created_at FROM flags.change
    WHERE account_id = $1 AND key = $2 AND revision < $3::bigint ORDER BY revision DESC LIMIT $4::int`,
);
const NEWEST = '9223372036854775807';

interface ChangeRow extends Readonly<Record<'action' | 'actor' | 'changed_fields', string>> {
  readonly revision: bigint;
  /** JSON. */
  readonly flag: string | null;
  readonly created_at: number;
}

const changeSchema = Type.Object({
  revision: flag.revisionField,
  action: Type.Enum(['create', 'update', 'delete', 'import'], { description: 'What was done.' }),
  actor: Type.String({ description: 'Id of the API key, or of the person, who did it.' }),
  changed_fields: Type.Array(Type.String(), { description: 'Fields that have other values than before.' }),
  flag: orNull<flag.Members>({ type: 'object' }, 'The flag after it; null: it was deleted, or is longer than 8 KiB.'),
  created_at: instant('When it was done.'),
});

const changes: Listed<ChangeRow, unknown, typeof changeSchema> = {
  noun: 'change',
  output: changeSchema,
  positionOf: ({ revision }) => String(revision),
  show: ({ revision, changed_fields: changed, flag: then, created_at, ...by }) => ({
    ...by,
    revision: Number(revision),
    created_at: iso(created_at),
    changed_fields: changed === '' ? [] : changed.split(' '),
    flag: then === null ? null : JSON.parse(then),
  }),
  list: async (db, { accountId }, { after, limit, filters }) =>
    (await db.query<ChangeRow>(listChanges, [accountId, filters?.key ?? '', after ?? NEWEST, limit])).rows,
};

export const history = listOf(changes, {
  path: '/v1/flags/history/{key}',
  summary: 'Lists the changes of a feature flag.',
  description:
    'Who changed what and when, newest first, also of a flag that was deleted. Of an account the newest 10,000 changes are kept.',
  keywords: ['flag audit log', 'who changed the flag'],
  filters: { key: flag.keyField },
  examples: [{ title: 'Its creation', before: switchMade, input: { key: 'search' } }],
});
