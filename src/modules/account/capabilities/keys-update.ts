import Type from 'typebox';
import { requireKey, updateKey } from '../../../core/keys/changes.ts';
import { scopesWithin, validateScopes } from '../../../core/keys/scopes.ts';
import { keyRecord } from '../../../core/keys/store.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { changeKeys, forgetKey } from '../caller.ts';
import { keyIdField, keySchema, nameField, scopesField } from '../schemas.ts';
import type { AccountState } from '../state.ts';

const replay = { keepDays: 30 } as const;

export const keysUpdate = defineCapability<AccountState>()({
  id: 'account.keys.update',
  method: 'PATCH',
  path: '/v1/account/keys/update/{id}',
  summary: 'Renames an API key or changes its scopes.',
  description:
    'Absent fields stay as they are; name null clears the name, scopes null or empty allows all modules. When scopes are taken away, ' +
    'no further call with them succeeds once the answer is there. A key can only change keys, and to scopes, within its own.',
  input: Type.Object({ id: keyIdField, name: Type.Optional(nameField), scopes: Type.Optional(scopesField) }),
  output: keySchema,
  price: 'free',
  currentSecretOnly: true,
  scope: 'admin',
  idempotent: true,
  replay,
  errors: ['INVALID_SCOPE', 'KEY_NOT_FOUND', 'SCOPE_ESCALATION', 'STATE_CONFLICT'],
  events: [],
  examples: [
    {
      title: 'Narrow a key to reading vectors',
      before: [{ capability: 'account.keys.create', input: { name: 'search', scopes: ['vector'] } }],
      input: { id: '$0.id', scopes: ['vector:read'] },
      expect: { name: 'search', scopes: ['vector:read'] },
    },
  ],
  async run({ ctx, input }) {
    const { core } = ctx;
    const scopes = input.scopes === undefined ? undefined : validateScopes(core.scopeBook, input.scopes);
    // A replayed answer does not tell whether its call narrowed the key: then it counts as one that did.
    let narrowed = true;
    const write = await changeKeys(ctx, { ...replay, target: input.id, scopes }, async (tx, { nowMs }) => {
      const before = await requireKey(tx, ctx.accountId, input.id);
      narrowed = scopes !== undefined && !scopesWithin(core.scopeBook, before.scopes, scopes);
      return keyRecord(await updateKey(tx, ctx.accountId, input.id, { name: input.name, scopes }, nowMs));
    });
    if (narrowed) await forgetKey(core, input.id);
    else core.keys.drop(input.id);
    return write;
  },
});
