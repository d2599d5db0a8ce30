// Evaluations of native calls and of OFREP: no statement of the database but to read an account's flags, once. They take the account's rate by what
// their rules may take; many are made in slices of time.
import type { CallContext } from '../../../core/context.ts';
import { TOKEN } from '../limits.ts';
import type { Context } from '../rules/context.ts';
import type { FlagsState } from '../state.ts';
import type { Evaluation, ServedFlag } from './served-flag.ts';
import type { AccountFlags } from './served-flags.ts';

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
  const flags = served.held(ctx.accountId) ?? (await load(ctx, served));
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
