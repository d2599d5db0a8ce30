import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField } from '../../../kit/fields.ts';
import { groupRecords } from '../groups/group-record.ts';
import { type GroupPosition, listGroups, numberOfGroups } from '../groups/group-store.ts';
import { groupPageSchema } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

const SEQ_MAX = 2n ** 63n - 1n;
const START: GroupPosition = { asOf: SEQ_MAX, count: SEQ_MAX, seq: SEQ_MAX };

export const groups = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/groups',
  summary: 'Lists error groups.',
  description:
    'Groups with their counts, users and the last day hour by hour. last_seen_desc and count_desc change while events arrive: their later pages ' +
    'leave out groups that got an event since the first page. first_seen_desc misses none that was there at the first page.',
  keywords: ['issues', 'grouped exceptions', 'top errors', 'most frequent bugs'],
  input: Type.Object({
    status: Type.Optional(
      Type.Enum(['unresolved', 'resolved', 'ignored'], { description: 'Only these; all when not sent.' }),
    ),
    sort: Type.Optional(
      Type.Enum(['count_desc', 'last_seen_desc', 'first_seen_desc'], {
        default: 'last_seen_desc',
        description: 'The order; last_seen_desc when not sent.',
      }),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: groupPageSchema,
  errors: ['INVALID_CURSOR'],
  examples: [
    {
      title: 'What happens most',
      before: [{ capability: 'errors.capture', input: { message: 'disk full', user_id: 'u-17' } }],
      input: { status: 'unresolved', sort: 'count_desc' },
      expect: { total: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    const { db, secrets } = ctx.core;
    const { accountId } = ctx;
    const status = input.status ?? null;
    const sort = input.sort ?? 'last_seen_desc';
    const binding = [accountId, ctx.capability, status ?? 'all', sort];
    const after = input.cursor === undefined ? START : positionOf(decodeCursor(secrets, binding, input.cursor));
    const limit = input.limit ?? 20;
    const [rows, total, nowMs] = await Promise.all([
      listGroups(db.hot, accountId, { status, sort, after, limit: limit + 1 }),
      numberOfGroups(db, accountId, status),
      clockNow(db),
    ]);
    const shown = page(rows, limit, (row) => {
      const asOf = after.asOf === SEQ_MAX ? row.as_of : after.asOf;
      const seq = sort === 'last_seen_desc' ? row.last_seq : row.group_id;
      return encodeCursor(secrets, binding, [String(asOf), String(row.count), String(seq)]);
    });
    const records = await groupRecords(db, state, accountId, shown.items, nowMs);
    return { data: { ...shown, items: records, groups: records, total } };
  },
});

function positionOf([asOf = '', count = '', seq = '']: readonly (string | number)[]): GroupPosition {
  return { asOf: BigInt(asOf), count: BigInt(count), seq: BigInt(seq) };
}
