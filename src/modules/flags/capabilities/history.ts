import Type from 'typebox';
import { statement } from '../../../db/statement.ts';
import { instant, orNull } from '../../../kit/fields.ts';
import { type Listed, listOf } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import { keyField, type Members, revisionField } from '../flags/flag.ts';
import { switchMade } from './flags.ts';

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
  revision: revisionField,
  action: Type.Enum(['create', 'update', 'delete', 'import'], { description: 'What was done.' }),
  actor: Type.String({ description: 'Id of the API key, or of the person, who did it.' }),
  changed_fields: Type.Array(Type.String(), { description: 'Fields that have other values than before.' }),
  flag: orNull<Members>({ type: 'object' }, 'The flag after it; null: it was deleted, or is longer than 8 KiB.'),
  created_at: instant('When it was done.'),
});

const changes: Listed<ChangeRow, unknown, typeof changeSchema> = {
  ...{ noun: 'change', output: changeSchema, positionOf: ({ revision }) => String(revision) },
  show: ({ revision, changed_fields: changed, flag, created_at, ...by }) => ({
    ...{ ...by, revision: Number(revision), created_at: iso(created_at) },
    ...{ changed_fields: changed === '' ? [] : changed.split(' '), flag: flag === null ? null : JSON.parse(flag) },
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
  filters: { key: keyField },
  examples: [{ title: 'Its creation', before: switchMade, input: { key: 'search' } }],
});
