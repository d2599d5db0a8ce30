import Type from 'typebox';
import { isKnownName, RULES_MAX, ruleTable, saveRule } from '../../../../approvals/rules.ts';
import { findKey } from '../../../../core/keys/store.ts';
import type { Transaction } from '../../../../db/database.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { ruleSteps } from '../../../../kit/json-logic/cost.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { nearest } from '../../../../lib/nearest.ts';
import { membersOf } from '../../../../people/persons.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { changeRules } from '../../approvals/rules.ts';
import {
  approversField,
  capabilitiesField,
  EXPIRES_SECONDS,
  expiresField,
  keysField,
  ruleNameField,
  ruleRecord,
  ruleSchema,
  whenField,
} from '../../approvals/schemas.ts';
import { problem } from '../../problems.ts';
import { nanosField } from '../../schemas.ts';

export const approvalsRuleSet = defineCapability()({
  id: 'account.approvals.rule.set',
  method: 'PUT',
  path: '/v1/account/approvals/rule/{name}',
  summary: 'Sets a rule of which calls a person must approve.',
  description:
    'Replaces the whole rule. A call that it meets answers 403 APPROVAL_REQUIRED and does nothing; the caller waits and repeats it once a ' +
    'person has approved it. Rules bind API keys through every door, not people who signed in. Keys that a rule lists need approval to make ' +
    'or change keys too, and keys that any rule binds to bind an e-mail address. A key that a rule binds sets no rules. What waited because of ' +
    'the rule before is asked for anew.',
  keywords: [
    'approval',
    'human in the loop',
    'ask before',
    'require confirmation',
    'guard dangerous calls',
    'four eyes',
    'agent permission',
    'spending approval',
  ],
  input: Type.Object({
    name: ruleNameField,
    capabilities: capabilitiesField,
    keys: Type.Optional(keysField),
    when: Type.Optional(whenField),
    approvers: Type.Optional(approversField),
    expires_seconds: Type.Optional(expiresField),
    reason_required: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether a decision needs words that say why.' }),
    ),
  }),
  output: ruleSchema,
  gates: ['recent_sign_in'],
  errors: ['QUOTA_EXCEEDED'],
  limits: { rules: `${RULES_MAX} rules.`, pending: '100 calls wait at once.' },
  examples: [
    {
      title: 'A person deletes queues, or nobody',
      before: [{ capability: 'account.keys.create', input: { name: 'agent', scopes: ['queue'] } }],
      input: { name: 'deletes', capabilities: ['queue.delete'], keys: ['$0.key_id'], reason_required: true },
      expect: { name: 'deletes', approvers: null, expires_seconds: 86_400 },
    },
    {
      title: 'What may cost more than a dollar',
      before: [{ capability: 'account.keys.create', input: { name: 'agent', scopes: ['ai', 'video'] } }],
      input: { name: 'dear', capabilities: ['*'], keys: ['$0.key_id'], when: { cost_usd_above: 1 } },
      expect: { when: { cost_usd_above: 1, input: null, first_use_of_key: false } },
    },
  ],
  async run({ ctx, input }) {
    const { name, keys = null, when = {}, approvers = null } = input;
    const above = nanosField('when.cost_usd_above', when.cost_usd_above ?? null);
    const logic = when.input ?? null;
    if (logic !== null) ruleSteps(logic, 'when.input');
    requireKnown(ctx, input.capabilities);
    return changeRules(ctx, name, async (tx, nowMs) => {
      const earlier = await ruleTable.find(tx, ctx, name);
      if (earlier === null && (await ruleTable.count(tx, ctx.accountId)) >= RULES_MAX)
        throw problem('QUOTA_EXCEEDED', { message: `An account has at most ${RULES_MAX} approval rules.` });
      await requireKeys(tx, ctx, keys ?? []);
      await requireApprovers(tx, ctx, approvers);
      const row = saveRule(tx, ctx, {
        name,
        capabilities: JSON.stringify([...new Set(input.capabilities)]),
        keys: keys === null ? null : JSON.stringify([...new Set(keys)]),
        cost_above_nanos: above,
        input_rule: logic === null ? null : JSON.stringify(logic),
        first_use: when.first_use_of_key === true,
        approvers: approvers === null ? null : JSON.stringify([...new Set(approvers)]),
        expires_seconds: input.expires_seconds ?? EXPIRES_SECONDS.usual,
        reason_required: input.reason_required === true,
        created_at: earlier?.created_at ?? nowMs,
        updated_at: nowMs,
      });
      return ruleRecord(row);
    });
  },
});

/** A name that is no capability would never ask anybody. */
function requireKnown({ core: { knownScopes } }: CallContext, names: readonly string[]): void {
  const at = names.findIndex((name) => !isKnownName(name, knownScopes.kinds.keys()));
  if (at === -1) return;
  const [didYouMean] = nearest(names[at] as string, [...knownScopes.kinds.keys(), ...knownScopes.modules], 1);
  const hint = didYouMean === undefined ? 'GET /v1/discovery lists them.' : `Did you mean ${didYouMean}?`;
  throw problem('VALIDATION_FAILED', {
    param: `capabilities[${at}]`,
    detail: 'unknown_capability',
    didYouMean,
    message: `There is no such capability or module. ${hint}`,
  });
}

async function requireKeys(tx: Transaction, { accountId }: CallContext, keys: readonly string[]): Promise<void> {
  for (const [i, id] of keys.entries()) {
    if ((await findKey(tx, accountId, id)) === null)
      throw invalidField(`keys[${i}]`, 'unknown_key', 'The account has no such key; account.keys.list has them all.');
  }
}

async function requireApprovers(tx: Transaction, ctx: CallContext, approvers: readonly string[] | null): Promise<void> {
  const members = await membersOf(tx, ctx.accountId);
  const known = new Set(members.map(({ personId }) => personId));
  const unknown = (approvers ?? []).findIndex((id) => !known.has(id));
  if (unknown !== -1)
    throw invalidField(
      `approvers[${unknown}]`,
      'unknown_person',
      'No such person acts for the account; account.get has them.',
    );
  if (approvers === null && !members.some(({ role }) => role === 'owner'))
    ctx.warnings.push(
      'approvers: the account has no owner who signs in, so nobody can approve yet; account.email.bind makes one.',
    );
}
