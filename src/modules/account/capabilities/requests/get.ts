import Type from 'typebox';
import { flushRequests } from '../../../../core/hear-siblings.ts';
import { getOf } from '../../../../kit/resource.ts';
import { requestRecord, requestSchema } from './request.ts';

export const requestsGet = getOf(
  {
    noun: 'request',
    keyName: 'request_id',
    output: requestSchema,
    show: requestRecord,
    keyField: Type.String({ minLength: 1, maxLength: 64, description: 'The request_id of an error, `req_…`.' }),
    async find(_db, ctx, id) {
      await flushRequests(ctx.core, ctx.accountId);
      return ctx.core.requests.find(ctx.accountId, id, ctx.signal);
    },
  },
  {
    path: '/v1/account/requests/get/{request_id}',
    summary: 'Gets one call of the request log.',
    description:
      'By the request_id of its answer. Of more than 50 short calls a second that succeeded, only a sample is there.',
    keywords: ['look up a request id', 'what happened to a call'],
    examples: [
      {
        title: 'The last call that failed',
        before: [
          { capability: 'account.keys.create', input: { name: 'looked at' } },
          { capability: 'account.requests.list', input: { outcome: 'all' } },
        ],
        input: { request_id: '$1.items.0.request_id' },
        expect: { capability: 'account.keys.create' },
      },
    ],
  },
);
