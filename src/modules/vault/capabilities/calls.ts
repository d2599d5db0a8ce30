import Type from 'typebox';
import { instant, textOrNull, whole, wholeOrNull } from '../../../kit/fields.ts';
import { listOf } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import { type CallRow, type Outcome, outcomes, pageOfCalls } from '../calls/store.ts';
import { connectionField } from '../schemas.ts';

const callSchema = Type.Object({
  call_id: Type.String({ description: 'Id of the call.' }),
  at: instant('When it began.'),
  key_id: Type.String({ description: 'Who made it.' }),
  connection: Type.String({ description: 'Name of the connection.' }),
  method: Type.String({ description: 'Method.' }),
  host: Type.String({ description: 'Host of the target.' }),
  path: Type.String({ description: 'Path, decoded, without its query.' }),
  status: wholeOrNull('What the target answered; null: nothing, or not yet.'),
  bytes_in: whole('Of the answer.'),
  bytes_out: whole('Of the body that was sent.'),
  latency_ms: wholeOrNull('Until the end of the answer; null while it runs.'),
  code: textOrNull('Why it failed; null: it did not. LOST: its process died, and nobody knows what the target did.'),
});

export const calls = listOf(
  {
    noun: 'call',
    output: callSchema,
    show: (row: CallRow) => ({
      call_id: row.call_id,
      at: iso(row.created_at),
      key_id: row.key_id,
      connection: row.connection,
      method: row.method,
      host: row.host,
      path: row.path,
      status: row.status,
      bytes_in: Number(row.bytes_in),
      bytes_out: Number(row.bytes_out),
      latency_ms: row.latency_ms,
      code: row.code,
    }),
    list: (db, { accountId }, { after, limit, filters = {} }) =>
      pageOfCalls(
        db,
        accountId,
        { after, limit },
        {
          connection: filters.connection ?? null,
          keyId: filters.key_id ?? null,
          outcome: (filters.outcome ?? null) as Outcome | null,
        },
      ),
    positionOf: ({ call_id: id }) => id,
  },
  {
    path: '/v1/vault/calls',
    summary: 'Lists the calls that went out with credentials.',
    description: 'The newest first, of 30 days, whatever door they came in by: no queries, headers or bodies.',
    keywords: ['vault log', 'who used the token', 'audit of outgoing calls'],
    filters: {
      connection: Type.Optional(connectionField),
      key_id: Type.Optional(Type.String({ maxLength: 64, description: 'Calls of this key.' })),
      outcome: Type.Optional(Type.Enum([...outcomes], { description: 'How they ended.' })),
    },
    examples: [{ title: 'All', input: {}, expect: { has_more: false } }],
  },
);
