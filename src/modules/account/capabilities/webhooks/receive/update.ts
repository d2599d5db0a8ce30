import Type from 'typebox';
import { runWrite } from '../../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../../kit/capability.ts';
import { requireRow } from '../../../../../kit/resource.ts';
import {
  descriptionField,
  filterField,
  nameField,
  receiverIdField,
  receiverWithSecretSchema,
  toField,
  verifyField,
} from '../../../receivers/schemas.ts';
import {
  type CheckedVerification,
  checkFilter,
  checkTarget,
  checkVerification,
  requireMayPublish,
} from '../../../receivers/settings.ts';
import { type ReceiverRow, receiverRecord, receivers, saveReceiver, sealSecret } from '../../../receivers/store.ts';

const replay = { secret: true } as const;

export const receiveUpdate = defineCapability()({
  method: 'PATCH',
  path: '/v1/account/webhooks/receive/update/{receiver_id}',
  summary: 'Changes a webhook receiver.',
  description:
    'Absent fields stay as they are. verify, to and filter are replaced whole; a secret that verify leaves out stays while ' +
    'the scheme does. A change holds at once: a request that was verified by the ' +
    'earlier secret is not published. new_url gives it another address and ends the one before. `disabled` answers senders 503, so that ' +
    'they come again.',
  keywords: ['rotate receiver secret', 'change webhook target', 'pause incoming webhooks', 'new webhook address'],
  input: Type.Object({
    receiver_id: receiverIdField,
    name: Type.Optional(nameField),
    verify: Type.Optional(verifyField),
    to: Type.Optional(toField),
    filter: Type.Optional(filterField),
    description: Type.Optional(descriptionField),
    state: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Whether it takes requests.' })),
    new_url: Type.Optional(Type.Boolean({ description: 'True: the address is replaced.' })),
  }),
  output: receiverWithSecretSchema,
  replay,
  laterPrices: ['queue.publish', 'realtime.publish'],
  errors: ['RECEIVER_NOT_FOUND', 'SCOPE_ESCALATION', 'EXPIRY_TOO_LATE'],
  examples: [
    {
      title: 'Another queue',
      before: [
        { capability: 'queue.create', input: { name: 'github' } },
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$1.receiver_id', to: { queue: 'builds' } },
      expect: { to: { queue: 'builds', channel: null }, secret: null },
    },
    {
      title: 'Pause it',
      before: [
        {
          capability: 'account.webhooks.receive.create',
          input: { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } },
        },
      ],
      input: { receiver_id: '$0.receiver_id', state: 'disabled' },
      expect: { state: 'disabled' },
    },
  ],
  async run({ ctx, input }) {
    const target = input.to === undefined ? {} : checkTarget(input.to);
    const filter = input.filter === undefined ? {} : { filter: checkFilter(input.filter) };
    return runWrite(
      ctx,
      async (tx, entry) => {
        const before = await requireRow(receivers, tx, ctx, input.receiver_id);
        const verification = input.verify === undefined ? null : checkVerification(input.verify, before.scheme);
        const after: ReceiverRow = {
          ...before,
          ...target,
          ...filter,
          ...(verification === null ? {} : verifiedBy(ctx, before, verification)),
          name: input.name ?? before.name,
          description: input.description === undefined ? before.description : input.description,
          disabled: input.state === undefined ? before.disabled : input.state === 'disabled',
          address_number: before.address_number + (input.new_url === true ? 1 : 0),
          revision: before.revision + 1,
          updated_at: entry.nowMs,
        };
        requireMayPublish(entry, after);
        const isMade = verification?.isMade === true;
        const row = saveReceiver(tx, ctx, after);
        return {
          ...receiverRecord(ctx.core, ctx.accountId, row),
          secret: isMade ? (verification.secret ?? null) : null,
        };
      },
      replay,
    );
  },
});

function verifiedBy(
  ctx: Parameters<typeof runWrite>[0] & { readonly core: Parameters<typeof sealSecret>[0] },
  { receiver_id: id }: ReceiverRow,
  { columns, secret }: CheckedVerification,
): Partial<ReceiverRow> {
  if (secret === undefined) return columns;
  return { ...columns, secret: secret === null ? null : sealSecret(ctx.core, id, secret) };
}
