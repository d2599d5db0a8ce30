// Hold of one model call. It is renewed while the call runs and ends once, by capture or release.
import { clockNow } from '../../../core/database-clock.ts';
import {
  type HeldAnswer,
  type HoldSettlement,
  keepHold,
  releaseHold,
  settleHold,
} from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Transaction } from '../../../db/database.ts';
import { rideOut } from '../../../db/ride-out.ts';
import { bookLoss, bookSale } from '../../../routing/bills.ts';
import type { Candidate } from '../../../routing/choose.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { addModelUse } from '../models/model-days.ts';
import type { ModelCall } from './model-call.ts';
import type { Reserved } from './reserve.ts';

/** What the call came to. */
export interface Due {
  readonly candidate: Candidate;
  /** For the caller; what exceeds the hold is the operator's. */
  readonly nanos: bigint;
  /** For the operator, without markup. */
  readonly billedNanos: bigint;
  readonly inputTokens: number;
  /** 0 for embeddings. */
  readonly outputTokens: number;
  /** For repeats of the call's idempotency key; without one it is free again. */
  readonly answer?: HeldAnswer;
  /** What an item of a batch keeps, JSON text; absent: the answer did not come to its end. */
  readonly response?: () => string;
}

export interface Charged {
  readonly costNanos: bigint;
  readonly balanceNanos: bigint;
}

export class CallHold {
  readonly #ctx: ModelCall;
  readonly #reserved: Pick<Reserved, 'holdId' | 'nanos'>;
  readonly #ended = Promise.withResolvers<void>();
  #isSettled = false;

  constructor(ctx: ModelCall, reserved: Pick<Reserved, 'holdId' | 'nanos'>) {
    this.#ctx = ctx;
    this.#reserved = reserved;
    void ctx.core.holds.during(ctx.accountId, reserved.holdId, () => this.#ended.promise);
  }

  /** Charges it, at most what is held. When the hold was lost meanwhile, nothing is charged. */
  async capture(due: Due): Promise<Charged> {
    const { candidate, nanos, inputTokens, outputTokens, answer, response } = due;
    const { core, accountId } = this.#ctx;
    const { holdId, nanos: heldNanos } = this.#reserved;
    const capturedNanos = nanos > heldNanos ? heldNanos : nanos;
    const units = BigInt(inputTokens + outputTokens);
    const kept = answer === undefined ? {} : { answer };
    const end = await rideOut(() =>
      core.db.transaction(async (tx) => {
        const capture = { capturedNanos, units, priceVersion: candidate.priceVersion, ...kept };
        const isOurs = response === undefined || (await this.#endItem(tx, capturedNanos, response));
        const [settlement, nowMs] = await Promise.all([
          isOurs ? settleHold(tx, accountId, holdId, capture) : releaseHold(tx, accountId, holdId),
          clockNow(tx),
        ]);
        if (settlement?.settledNow !== false)
          await this.#book(tx, due, settlement?.status === 'captured' ? settlement.capturedNanos : null, nowMs);
        return settlement;
      }, accountId),
    );
    return this.#finishSettlement(end);
  }

  /**
   * What the call came to, in the books beside the wallet, behind its lock. `capturedNanos`: null when nothing was captured.
   * `nowMs`: of the database's clock, as for all money.
   */
  async #book(tx: Transaction, due: Due, capturedNanos: bigint | null, nowMs: number): Promise<void> {
    const { accountId, capability } = this.#ctx;
    const { candidate, billedNanos, inputTokens, outputTokens } = due;
    const bill = { accountId, vendor: candidate.vendor, billedNanos };
    const isBilled = candidate.vendor !== SANDBOX;
    if (capturedNanos === null) {
      if (isBilled) await bookLoss(tx, { ...bill, cause: 'late' }, nowMs);
      return;
    }
    const model = `${candidate.vendor}/${candidate.model}`;
    await Promise.all([
      countAccepted(tx, [{ accountId, capability, units: BigInt(inputTokens + outputTokens) }]),
      addModelUse(tx, { accountId, capability, model, inputTokens, outputTokens, spendNanos: capturedNanos }),
      isBilled ? bookSale(tx, { ...bill, capturedNanos }, nowMs) : null,
    ]);
  }

  /** Before the wallet is locked. What costs nothing, because its hold was lost, is over all the same. */
  async #endItem(tx: Transaction, capturedNanos: bigint, response: () => string): Promise<boolean> {
    const { item, accountId } = this.#ctx;
    if (item === undefined) return true;
    const status = await keepHold(tx, accountId, this.#reserved.holdId);
    return item.end(tx, response(), status === 'active' || status === 'captured' ? capturedNanos : 0n);
  }

  /** Gives everything back, unless it was captured. A hold that cannot be released expires by itself. */
  async release(): Promise<void> {
    if (this.#isSettled) return;
    const { core, accountId } = this.#ctx;
    const { holdId } = this.#reserved;
    await core.holds.release(accountId, holdId).catch((err: unknown) => {
      core.log.warn({ err, holdId }, 'a hold could not be released; it expires by itself');
    });
    this.#finishSettlement(null);
  }

  #finishSettlement(end: HoldSettlement | null): Charged {
    this.#isSettled = true;
    this.#ended.resolve();
    return { costNanos: end?.capturedNanos ?? 0n, balanceNanos: end?.balanceNanos ?? 0n };
  }
}
