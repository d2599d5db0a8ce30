import Type from 'typebox';
import { flushRequests } from '../../../../core/hear-siblings.ts';
import { droppedIn, requestsBefore } from '../../../../core/requests/store.ts';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../../kit/fields.ts';
import { filterFields, filterOf, keptOf, periodFields, requestRecord, requestSchema } from './request.ts';

export const requestsList = defineCapability()({
  method: 'GET',
  path: '/v1/account/requests/list',
  summary: 'Lists calls of the account: the request log.',
  description:
    'Failed calls, calls of 1 s and longer, and management writes, newest first, for 7 days and at most 20,000. Successful short calls are kept only ' +
    'while account.requests.settings records all. `audit=true` lists the audit log: writes of the modules account and operator, for 400 days. ' +
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
      description: 'Calls of the period that were not kept, because too many came in a second.',
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
    await flushRequests(core);
    const filter = await keptOf(ctx, asked, table);
    const page = await listPage(ctx, input, {
      filters: [table, ...Object.values(asked).map(String)],
      read: (before, limit) =>
        requestsBefore(core.db, accountId, before === null ? null : BigInt(before), { table, filter, limit }),
      positionOf: ({ seq }) => String(seq),
    });
    const dropped = await droppedIn(core.db, accountId, filter.fromMs ?? 0, filter.toMs);
    return { data: { ...page, items: page.items.map(requestRecord), dropped } };
  },
});
