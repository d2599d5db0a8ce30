import Type from 'typebox';
import { flushRequests } from '../../../../core/hear-siblings.ts';
import { requestsBefore, unkeptIn } from '../../../../core/requests/store.ts';
import { decodeCursor, encodeCursor, LIMIT_DEFAULT, page } from '../../../../core/secrets/cursors.ts';
import type { Secrets } from '../../../../core/secrets/secrets.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../../kit/fields.ts';
import { newestOf } from '../../requests/find.ts';
import { filterFields, filterOf, keptOf, periodFields, requestRecord, requestSchema } from './request.ts';

export const requestsList = defineCapability()({
  method: 'GET',
  path: '/v1/account/requests/list',
  summary: 'Lists calls of the account: the request log.',
  description:
    'Failed calls, newest first, for 7 days; `outcome=all` lists all calls. Above 50 short calls a second that succeed, the log keeps a sample, and ' +
    '`sampled_out` counts the rest. `audit=true` lists the audit log: writes of the modules account and operator, for 400 days. ' +
    'GET /v1/account/requests/tail takes the same filters and streams new calls as Server-Sent Events.',
  keywords: ['request log', 'failed calls', 'why did my call fail', 'audit log', 'debug requests', 'access log'],
  input: Type.Object({
    cursor: cursorField,
    limit: limitField,
    ...periodFields,
    ...filterFields,
    audit: Type.Optional(Type.Boolean({ description: 'True: the audit log.' })),
  }),
  output: Type.Object({
    items: Type.Array(requestSchema, { description: 'This page.' }),
    ...pageFields,
    dropped: Type.Integer({
      description: 'Failed and slow calls of the period that were not kept, because too many came in a second.',
    }),
    sampled_out: Type.Integer({
      description: 'Short calls of the period that succeeded and are not in the sample.',
    }),
  }),
  errors: ['INVALID_CURSOR'],
  examples: [
    { title: 'What failed last', input: { limit: 5 } },
    { title: 'Slow calls of one capability', input: { outcome: 'slow', capability: 'ai.chat' } },
    { title: 'Who changed the account', input: { audit: true } },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    const table = input.audit === true ? 'core.audit_log' : 'core.request_log';
    const asked = filterOf(input, input.audit === true);
    await flushRequests(core, accountId);
    const filter = await keptOf(ctx, asked, table);
    const binding = [accountId, ctx.capability, table, ...Object.values(asked).map(String)];
    const before = positionBefore(core.secrets, binding, input.cursor);
    const limit = input.limit ?? LIMIT_DEFAULT;
    const bounds = { filter, limit: limit + 1 };
    const [rows, archived, unkept] = await Promise.all([
      requestsBefore(core.db, accountId, before, { table, ...bounds }),
      table === 'core.request_log'
        ? core.requests.archive.before(accountId, before, bounds, ctx.signal)
        : { rows: [], leftBefore: null },
      unkeptIn(core.db, accountId, filter.fromMs ?? 0, filter.toMs),
    ]);
    const { leftBefore } = archived;
    // Of a search that took its time the list is complete up to there.
    const found = newestOf([...rows, ...archived.rows], limit + 1).filter(
      ({ seq }) => leftBefore === null || seq >= leftBefore,
    );
    const cursorBefore = (seq: bigint) => encodeCursor(core.secrets, binding, [String(seq)]);
    const shown = page(found, limit, ({ seq }) => cursorBefore(seq));
    const isCut = leftBefore !== null && !shown.has_more;
    return {
      data: {
        items: shown.items.map(requestRecord),
        next_cursor: isCut ? cursorBefore(leftBefore) : shown.next_cursor,
        has_more: isCut || shown.has_more,
        dropped: unkept.dropped,
        sampled_out: unkept.sampledOut,
      },
    };
  },
});

function positionBefore(secrets: Secrets, binding: readonly string[], cursor: string | undefined): bigint | null {
  return cursor === undefined ? null : BigInt(decodeCursor(secrets, binding, cursor)[0] as string);
}
