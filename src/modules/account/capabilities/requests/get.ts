import Type from 'typebox';
import { flushRequests } from '../../../../core/hear-siblings.ts';
import { findRequest } from '../../../../core/requests/store.ts';
import { getOf } from '../../../../kit/resource.ts';
import { requestRecord, requestSchema } from './request.ts';

export const requestsGet = getOf(
  {
    noun: 'request',
    keyName: 'request_id',
    output: requestSchema,
    show: requestRecord,
    keyField: Type.String({ minLength: 1, maxLength: 64, description: 'The request_id of an error, `req_…`.' }),
    async find(db, ctx, id) {
      await flushRequests(ctx.core);
      return findRequest(db, ctx.accountId, id);
    },
  },
  {
    path: '/v1/account/requests/get/{request_id}',
    summary: 'Gets one call of the request log.',
    description:
      'By the request_id of its answer. A call that succeeded in less than 1 s is there only if all calls were recorded at the time.',
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
