import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { checkContext } from '../rules/context.ts';
import { contextField, evaluationSchema, keyField, keysField, kindField } from '../schemas.ts';
import { evaluateMany, evaluateOne, flagsOf } from '../serving/evaluate.ts';
import type { Evaluation } from '../serving/evaluation.ts';
import type { FlagsState } from '../state.ts';

export const EVALUATE = 'flags.evaluate';

export const evaluate = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/evaluate',
  summary: 'Tells which variant of a feature flag a context gets, and why.',
  description:
    '`key` for one flag, `keys` for several, neither for all. `context` has what rules ask for; `targetingKey` names the user and decides percentages. A flag that ' +
    'is missing, off (DISABLED) or without a default is no failure of the call: its value is null, and your code uses its own default. `type` asks ' +
    'for TYPE_MISMATCH where the flag has another one. A public key may call this alone. Free, at a rate of its own.',
  keywords: ['evaluate feature flag', 'is feature enabled', 'is the feature on for this user', 'openfeature', 'ofrep'],
  isLongRead: true,
  publishable: true,
  rate: 'evaluations',
  input: Type.Object({
    key: Type.Optional(keyField),
    keys: keysField,
    context: contextField,
    type: Type.Optional({ ...kindField, description: 'Type that the flags must have.' }),
  }),
  output: Type.Object({ items: Type.Array(evaluationSchema, { description: 'One for each key, in their order.' }) }),
  limits: {
    rate: '1,000 evaluations a second (standard tier), 10,000 (pro), 100,000 (enterprise), beside the rate of reads. Costly rules and many flags take more than one.',
    context: '16 KiB, 1,000 values, texts of 1,024 characters, 8 levels.',
  },
  examples: [
    {
      title: 'For one user',
      before: [
        {
          capability: 'flags.create',
          input: { key: 'search', type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' },
        },
      ],
      input: { key: 'search', context: { targetingKey: 'user-1' } },
      expect: { items: [{ key: 'search', value: true, variant: 'on', reason: 'STATIC', error_code: null }] },
    },
  ],
  async run({ ctx, input: { key, keys, context = {}, type }, state }) {
    if (key !== undefined && keys !== undefined) throw invalidField('keys', 'exclusive', 'Send key or keys, not both.');
    checkContext(context, ctx.inputText.length);
    const flags = await flagsOf(ctx, state);
    if (key !== undefined) return answerOf([text(evaluateOne(ctx, flags, key, context, type))]);
    const asked = { keys: keys ?? flags.keys, context, kind: type };
    return answerOf(await evaluateMany(ctx, state, flags, asked, (evaluation) => heldText(ctx, evaluation)));
  },
});

type Holding = { holdAnswer(bytes: number): void };

function heldText(ctx: Holding, evaluation: Evaluation): string {
  const made = text(evaluation);
  ctx.holdAnswer(made.length);
  return made;
}

function text({ key, value, variant, reason, errorCode }: Evaluation): string {
  const [name, code] = [JSON.stringify(variant), JSON.stringify(errorCode)];
  return `{"key":${JSON.stringify(key)},"value":${value},"variant":${name},"reason":"${reason}","error_code":${code}}`;
}

function answerOf(items: readonly string[]) {
  return { data: new JsonText(`{"items":[${items.join(',')}]}`) };
}
