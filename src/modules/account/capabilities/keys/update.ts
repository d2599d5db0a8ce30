import Type from 'typebox';
import { scopesWithin, validateScopes } from '../../../../core/callers/scopes.ts';
import { forgetKeyHere } from '../../../../core/hear-siblings.ts';
import { type CapChange, requireKey, updateKey } from '../../../../core/keys/changes.ts';
import { keyRecord } from '../../../../core/keys/key-record.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { changeKeys, forgetKey, requireNoMoney } from '../../caller.ts';
import {
  keyIdField,
  keySchema,
  nameField,
  nanosField,
  scopesField,
  spendCapField,
  spendCapPeriodField,
} from '../../schemas.ts';

const replay = { keepDays: 30 } as const;

export const keysUpdate = defineCapability()({
  method: 'PATCH',
  path: '/v1/account/keys/update/{key_id}',
  summary: 'Renames an API key, changes its scopes or its spend cap.',
  description:
    'Absent fields stay as they are; name null clears it, scopes null or empty allows all modules. No call by scopes that were taken away succeeds once ' +
    'the answer is there. A key can only change keys, and to scopes, within its own. A new cap, or another spend_cap_period, counts at once what its window ' +
    'has spent already; another amount keeps the count, and null removes the cap. A key that has a spend cap cannot change any.',
  keywords: ['change key scopes', 'rename api key', 'spend cap of a key', 'key permissions'],
  input: Type.Object({
    key_id: keyIdField,
    name: Type.Optional(nameField),
    scopes: Type.Optional(scopesField),
    spend_cap_usd: Type.Optional(spendCapField),
    spend_cap_period: Type.Optional(spendCapPeriodField),
  }),
  output: keySchema,
  currentSecretOnly: true,
  gates: ['recent_sign_in'],
  replay,
  errors: ['INVALID_SCOPE', 'KEY_NOT_FOUND', 'SCOPE_ESCALATION', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Narrow a key to reading vectors',
      before: [{ capability: 'account.keys.create', input: { name: 'search', scopes: ['vector'] } }],
      input: { key_id: '$0.key_id', scopes: ['vector:read'] },
      expect: { name: 'search', scopes: ['vector:read'] },
    },
    {
      title: 'At most 5 USD a month',
      before: [{ capability: 'account.keys.create', input: { name: 'search' } }],
      input: { key_id: '$0.key_id', spend_cap_usd: 5, spend_cap_period: 'monthly' },
      expect: { spend_cap_usd: 5, spend_cap_period: 'monthly', spend_used_usd: 0 },
    },
  ],
  async run({ ctx, input }) {
    const { core } = ctx;
    const scopes = input.scopes === undefined ? undefined : validateScopes(core.knownScopes, input.scopes);
    const cap = capChangeOf(input.spend_cap_usd, input.spend_cap_period);
    // A replayed answer does not tell whether its call narrowed the key: then it counts as one that did.
    let narrowed = true;
    const write = await changeKeys(ctx, { ...replay, target: input.key_id, scopes }, async (tx, entry) => {
      if (cap !== undefined) requireNoMoney(entry, null, 'spend_cap_usd');
      const before = await requireKey(tx, ctx.accountId, input.key_id);
      narrowed = scopes !== undefined && !scopesWithin(core.knownScopes, before.scopes, scopes);
      return keyRecord(
        await updateKey(tx, ctx.accountId, input.key_id, { name: input.name, scopes, cap }, entry.nowMs),
      );
    });
    if (narrowed) await forgetKey(core, input.key_id);
    else await forgetKeyHere(core, input.key_id);
    return write;
  },
});

function capChangeOf(amount: number | null | undefined, period: CapChange['period']): CapChange | undefined {
  if (amount === undefined && period === undefined) return undefined;
  return { nanos: amount === undefined ? undefined : nanosField('spend_cap_usd', amount), period };
}
