// Evaluations of native calls and of OFREP: no statement of the database but to read an account's flags, once. Each takes the account's rate by what
// its rule may take; many are made in slices of time.
import type { CallContext } from '../../../core/context.ts';
import { FLAGS_PER_TOKEN, STEPS_PER_TOKEN } from '../limits.ts';
import type { Context } from '../rules/context.ts';
import type { FlagsState } from '../state.ts';
import type { CompiledFlag } from './compiled-flag.ts';
import { type Evaluation, failedEvaluation } from './evaluation.ts';
import type { AccountFlags } from './served-flags.ts';

/** Bytes of definitions that are read for one token. */
const BYTES_PER_TOKEN = 16 * 1024;

type Serving = Pick<FlagsState, 'served' | 'slices'>;

export function flagsOf(ctx: CallContext, { served }: Serving): AccountFlags | Promise<AccountFlags> {
  return served.held(ctx.accountId) ?? load(ctx, served);
}

async function load(ctx: CallContext, served: Serving['served']): Promise<AccountFlags> {
  const flags = await served.load(ctx.accountId);
  ctx.weigh(Math.floor(flags.bytes / BYTES_PER_TOKEN));
  return flags;
}

/** `kind`: that the flag must be of. */
export function evaluateOne(
  ctx: CallContext,
  flags: AccountFlags,
  key: string,
  context: Context,
  kind?: string,
): Evaluation {
  const flag = flags.get(key);
  ctx.weigh(Math.floor((flag?.steps ?? 0) / STEPS_PER_TOKEN));
  return evaluation(flag, key, context, kind);
}

/** What `show` makes of each, in the order of the keys. */
export async function evaluateMany<Shown>(
  ctx: CallContext,
  { slices }: Serving,
  flags: AccountFlags,
  {
    keys,
    context,
    kind,
  }: { readonly keys: readonly string[]; readonly context: Context; readonly kind?: string | undefined },
  show: (evaluation: Evaluation) => Shown,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  let steps = 0;
  await slices.next();
  for (const key of keys) {
    if (slices.isOver) await slices.next();
    const flag = flags.get(key);
    steps += flag?.steps ?? 0;
    shown.push(show(evaluation(flag, key, context, kind)));
  }
  ctx.weigh(Math.floor(steps / STEPS_PER_TOKEN + keys.length / FLAGS_PER_TOKEN));
  return shown;
}

function evaluation(flag: CompiledFlag | null, key: string, context: Context, kind?: string): Evaluation {
  if (flag === null) return failedEvaluation(key, 'FLAG_NOT_FOUND');
  if (kind !== undefined && kind !== flag.kind) return failedEvaluation(key, 'TYPE_MISMATCH');
  return flag.evaluate(context);
}
