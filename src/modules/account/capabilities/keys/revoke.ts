import Type from 'typebox';
import { revokeKey } from '../../../../core/keys/changes.ts';
import { keyRecord } from '../../../../core/keys/key-record.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { changeKeys, forgetKey } from '../../caller.ts';
import { keyIdField, keySchema } from '../../schemas.ts';

const replay = { keepDays: 30 } as const;

export const keysRevoke = defineCapability()({
  method: 'DELETE',
  path: '/v1/account/keys/revoke/{key_id}',
  summary: 'Revokes an API key for good.',
  description:
    'Ends the key and all its secrets. When the answer is there, no further call with the key succeeds anywhere. Revoking it again ' +
    'returns the same record. It cannot be undone; the calling key may revoke itself. The key stays in the list for 30 days.',
  keywords: ['revoke token', 'delete api key', 'disable credentials'],
  input: Type.Object({ key_id: keyIdField }),
  output: keySchema,
  currentSecretOnly: true,
  gates: ['recent_sign_in'],
  replay,
  errors: ['KEY_NOT_FOUND'],
  examples: [
    {
      title: 'Revoke a key',
      before: [{ capability: 'account.keys.create', input: { name: 'short-lived' } }],
      input: { key_id: '$0.key_id' },
      expect: { status: 'revoked', revoked_reason: 'requested' },
    },
  ],
  async run({ ctx, input }) {
    const write = await changeKeys(ctx, replay, async (tx, { nowMs }) =>
      keyRecord(await revokeKey(tx, ctx.accountId, input.key_id, 'requested', nowMs)),
    );
    await forgetKey(ctx.core, input.key_id);
    return write;
  },
});
