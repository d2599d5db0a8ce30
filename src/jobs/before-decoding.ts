// Check before a picture is decoded, which takes seconds of a processor. Only a call that could begin its job now, by a read without locks, is
// decoded. If the money may not cover all of the account's pending calls, the amount is held during decoding. The lane decides in the end.

import { readFunds } from '../core/wallet/funds.ts';
import type { CallContext } from '../kit/services.ts';
import { DAY_MS } from '../lib/time.ts';
import { tooManyJobs } from './begin.ts';
import type { JobTables } from './kind.ts';

interface Ask {
  readonly units: bigint;
  /** Nano-USD that the job will hold. */
  readonly heldNanos: bigint;
  readonly jobsMax: number;
}

/** What an account's calls that decode will begin. */
interface UnderWay {
  jobs: number;
  nanos: bigint;
}

export class BeforeDecoding {
  readonly #tables: Pick<JobTables, 'shape' | 'store'>;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(tables: Pick<JobTables, 'shape' | 'store'>) {
    this.#tables = tables;
  }

  /** Answers and throws what `decode` does; throws CONCURRENCY_LIMITED and INSUFFICIENT_CREDIT before it. */
  async run<T>(ctx: CallContext, ask: Ask, decode: () => Promise<T>): Promise<T> {
    const { accountId, core } = ctx;
    await ctx.approval?.require(ask.heldNanos);
    const own = this.#underWay.get(accountId) ?? { jobs: 0, nanos: 0n };
    this.#underWay.set(accountId, own);
    own.jobs += 1;
    own.nanos += ask.heldNanos;
    try {
      const { hot } = core.db;
      const [funds, live] = await Promise.all([readFunds(hot, accountId), this.#tables.store.live(hot, [accountId])]);
      if ((live.get(accountId) ?? 0) + own.jobs > ask.jobsMax) throw tooManyJobs(this.#tables.shape.name, ask.jobsMax);
      return await (funds < own.nanos ? holding(ctx, ask, decode) : decode());
    } finally {
      own.jobs -= 1;
      own.nanos -= ask.heldNanos;
      if (own.jobs === 0) this.#underWay.delete(accountId);
    }
  }
}

/** Throws the lane's refusal. */
async function holding<T>(ctx: CallContext, { units, heldNanos }: Ask, decode: () => Promise<T>): Promise<T> {
  const { accountId, principal, capability, scope, requestId, approval } = ctx;
  const { holds, prices } = ctx.core;
  const outcome = await holds.authorize({
    accountId,
    principal,
    capability,
    scope,
    requestId,
    approval,
    units,
    amount: heldNanos,
    idempotency: null,
    priceVersion: prices.version,
    holdMs: holds.termMs,
    holdOwner: holds.owner,
    keepMs: DAY_MS,
  });
  if (outcome.kind === 'refused') throw outcome.problem;
  if (outcome.kind !== 'held') throw new Error(`a hold was ${outcome.kind}`);
  const { holdId } = outcome.hold;
  return holds.during(accountId, holdId, decode).finally(() => holds.release(accountId, holdId));
}
