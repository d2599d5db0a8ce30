// Flag evaluations of native calls and OFREP. The only database read loads an account's flags, once; evaluation itself runs in memory. The steps
// of the rules count against the account's rate. A call with many flags yields to the event loop in time slices.
import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { type Context, checkContext } from '../../../kit/json-logic/cost.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { keyField, type Members, typeField } from '../flags/flag.ts';
import { KEYS_MAX, TOKEN } from '../limits.ts';
import type { Evaluation, ServedFlag } from '../serving/served-flag.ts';
import type { AccountFlags, FlagsState } from '../serving/served-flags.ts';
import { switchMade } from './flags.ts';

export const EVALUATE = 'flags.evaluate';

const evaluationSchema = Type.Object({
  key: Type.String({ description: 'Key of the flag.' }),
  value: Type.Unknown({ description: 'Its value; null where the code that asks uses its own default.' }),
  variant: textOrNull('Name of the value.'),
  reason: Type.String({ description: 'STATIC, DEFAULT, TARGETING_MATCH, DISABLED or ERROR.' }),
  error_code: textOrNull('FLAG_NOT_FOUND, TYPE_MISMATCH, PARSE_ERROR or GENERAL; null: none.'),
});

export const evaluate = defineCapability<FlagsState>()({
  method: 'POST',
  path: '/v1/flags/evaluate',
  summary: 'Tells which variant of a feature flag a context gets, and why.',
  description:
    '`key` for one flag, `keys` for several, neither for all. A flag that is missing, off (DISABLED) or without a default is no failure of the call: its ' +
    'value is null, and your code uses its own default. A public key may call this alone. Free, at a rate of its own.',
  keywords: ['evaluate feature flag', 'is feature enabled', 'is the feature on for this user', 'openfeature', 'ofrep'],
  isLongRead: true,
  publishable: true,
  rate: 'evaluations',
  input: Type.Object({
    key: Type.Optional(keyField),
    keys: Type.Optional(
      Type.Array(keyField, { minItems: 1, maxItems: KEYS_MAX, description: `Keys of flags, 1 to ${KEYS_MAX}.` }),
    ),
    context: Type.Optional(
      Type.Unsafe<Members>({
        type: 'object',
        description:
          'Attributes that rules ask for, such as `{"targetingKey": "user-1", "email": "a@example.org"}`; targetingKey decides percentages.',
      }),
    ),
    type: Type.Optional({ ...typeField, description: 'Type that the flags must have, else TYPE_MISMATCH.' }),
  }),
  output: Type.Object({ items: Type.Array(evaluationSchema, { description: 'One for each key, in their order.' }) }),
  limits: {
    rate: '1,000 evaluations a second (standard tier), 10,000 (pro), 100,000 (enterprise), beside the rate of reads. Costly rules and many flags take more than one.',
    context: '16 KiB, 1,000 values, texts of 1,024 characters, 8 levels.',
  },
  examples: [
    {
      title: 'For one user',
      before: switchMade,
      input: { key: 'search', context: { targetingKey: 'user-1' } },
      expect: { items: [{ key: 'search', value: true, variant: 'on', reason: 'STATIC', error_code: null }] },
    },
  ],
  async run({ ctx, input: { key, keys, context = {}, type }, state }) {
    if (key !== undefined && keys !== undefined) throw invalidField('keys', 'exclusive', 'Send key or keys, not both.');
    checkContext(context, ctx.inputText.length);
    const asked = { keys: key === undefined ? (keys ?? null) : [key], context, type };
    const items = await evaluateFlags(ctx, state, asked, itemText);
    return { data: new JsonText(`{"items":[${items.join(',')}]}`) };
  },
});

function itemText({ key, value, variant, reason, errorCode }: Evaluation): string {
  const [name, code] = [JSON.stringify(variant), JSON.stringify(errorCode)];
  return `{"key":${JSON.stringify(key)},"value":${value},"variant":${name},"reason":"${reason}","error_code":${code}}`;
}

export interface Asked {
  /** Null: all flags. */
  readonly keys: readonly string[] | null;
  readonly context: Context;
  /** That the flags must be of. */
  readonly type?: string | undefined;
}

/** What `show` makes of each, in the order of the keys. */
export async function evaluateFlags(
  ctx: CallContext,
  { served, slices }: Pick<FlagsState, 'served' | 'slices'>,
  { keys, context, type }: Asked,
  show: (evaluation: Evaluation) => string,
): Promise<string[]> {
  const flags = served.flagsInMemory(ctx.accountId) ?? (await load(ctx, served));
  const asked = keys ?? [...flags.byKey.keys()];
  const isLong = asked.length > 1;
  const texts: string[] = [];
  let steps = 0;
  if (isLong) await slices.next();
  for (const key of asked) {
    if (isLong && slices.isOver) await slices.next();
    const flag = flags.byKey.get(key);
    steps += flag?.row.steps ?? 0;
    const text = show(evaluation(flag, key, context, type));
    ctx.holdAnswer(text.length);
    texts.push(text);
  }
  ctx.weigh(Math.floor(steps / TOKEN.steps + asked.length / TOKEN.flags));
  return texts;
}

async function load(ctx: CallContext, served: FlagsState['served']): Promise<AccountFlags> {
  const flags = await served.load(ctx.accountId);
  ctx.weigh(Math.floor(flags.bytes / TOKEN.bytes));
  return flags;
}

function evaluation(flag: ServedFlag | undefined, key: string, context: Context, type?: string): Evaluation {
  const failed = { key, value: null, variant: null, reason: 'ERROR', metadata: '{}' };
  if (flag === undefined) return { ...failed, errorCode: 'FLAG_NOT_FOUND' };
  if (type !== undefined && type !== flag.row.type) return { ...failed, errorCode: 'TYPE_MISMATCH' };
  return flag.evaluate(context);
}
