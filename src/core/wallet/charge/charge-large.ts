// Charge of a large effect under an existing hold. Its rows, the capture and the answer commit in one transaction, which locks the wallet last.
// So the account's other calls never wait for it. Any failure releases the hold.
import { textArray } from '../../../db/arrays.ts';
import { type Database, sqlState, type Transaction } from '../../../db/database.ts';
import { isLost, rideOut } from '../../../db/ride-out.ts';
import { problem } from '../../../problems/problem.ts';
import { confirmCaller } from '../../callers/enter.ts';
import type { Logger } from '../../process/logger.ts';
import type { Holds } from '../holds/holds.ts';
import { type HoldSettlement, keepHold, settleHold } from '../holds/settle-hold.ts';
import { billOf } from '../lane/account-batch.ts';
import type { AdmittedItem, AuthorizedHold, LaneItem } from '../lane/lane-item.ts';
import { lockWallets } from '../lane/statements.ts';

interface Services {
  readonly db: Database;
  readonly holds: Holds;
  readonly log: Logger;
}

export interface LargeOutcome {
  readonly text: string;
  readonly replayed: boolean;
  readonly costNanos: bigint;
  readonly balanceNanos: bigint;
}

/** The effect answers as an earlier call did: nothing is written or charged. */
class AnsweredBefore extends Error {
  readonly text: string;

  constructor(text: string) {
    super('answered by an earlier call');
    this.text = text;
  }
}

/** Writes the effect of a held call and captures its price. Throws the Problem of a refusal, SERVICE_UNAVAILABLE without a database. */
export async function chargeLarge<Input, Context>(
  core: Services,
  item: LaneItem<Input, Context>,
  hold: AuthorizedHold,
  turns = core.holds.largeWrites,
): Promise<LargeOutcome> {
  const write = new LargeWrite(core, item, hold);
  const outcome = await core.holds.during(item.accountId, hold.holdId, () => turns(() => write.run()));
  if (!outcome.replayed) write.tell();
  return outcome;
}

class LargeWrite<Input, Context> {
  readonly #core: Services;
  readonly #item: LaneItem<Input, Context>;
  readonly #hold: AuthorizedHold;
  /** What the last attempt wrote; whether it was committed, the hold says. */
  #written: { readonly text: string; readonly admitted: AdmittedItem<Input, Context> } | null = null;

  constructor(core: Services, item: LaneItem<Input, Context>, hold: AuthorizedHold) {
    this.#core = core;
    this.#item = item;
    this.#hold = hold;
  }

  async run(): Promise<LargeOutcome> {
    const attempt = () => rideOut(() => this.#core.db.transaction((tx) => this.#write(tx), this.#item.accountId));
    try {
      // A unique violation is a rival that committed between read and write, or an own lost commit: read again, once.
      return await attempt().catch((error) => (sqlState(error) === '23505' ? attempt() : Promise.reject(error)));
    } catch (error) {
      const end = await this.#giveBack(error instanceof AnsweredBefore ? error.text : null);
      const balanceNanos = end?.balanceNanos ?? 0n;
      if (end?.status === 'captured' && this.#written !== null) {
        return { text: this.#written.text, replayed: false, costNanos: end.capturedNanos, balanceNanos };
      }
      if (error instanceof AnsweredBefore) return { text: error.text, replayed: true, costNanos: 0n, balanceNanos };
      throw isLost(error) ? problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error }) : error;
    }
  }

  /** Local hints; they cannot undo what is committed. */
  tell(): void {
    try {
      if (this.#written !== null) this.#item.effect.afterCommit?.([this.#written.admitted]);
    } catch (error) {
      this.#core.log.error({ err: error }, 'local hint after a large effect failed');
    }
  }

  async #write(tx: Transaction): Promise<LargeOutcome> {
    const { accountId, priceVersion, keepMs, effect } = this.#item;
    const known = await keepHold(tx, accountId, this.#hold.holdId);
    if (known !== 'active') {
      if (this.#written !== null) throw new Error(`the hold of an earlier attempt is ${known}`);
      throw problem('DEADLINE_EXCEEDED', { retryAfterMs: 1000 });
    }
    if (effect.readsUnderLock === true) await tx.query(lockWallets, [textArray([accountId])]);
    const [verdict] = await effect.read(tx, [this.#item]);
    if (verdict?.kind === 'refuse') throw verdict.problem;
    if (verdict?.kind === 'replay') throw new AnsweredBefore(verdict.text);
    if (verdict?.kind !== 'go') throw new Error(`the effect ${effect.name} gave no verdict on a hold`);
    const { firstSeq, holdId } = this.#hold;
    const admitted = { item: this.#item, context: verdict.context, firstSeq, holdId };
    const text =
      effect.writeLarge === undefined
        ? effect.write(tx, [admitted], this.#hold.nowMs)[0]
        : await effect.writeLarge(tx, admitted, this.#hold.nowMs);
    if (text === undefined) throw new Error(`the effect ${effect.name} gave no answer`);
    this.#written = { text, admitted };
    const bill = billOf(this.#item as LaneItem, verdict);
    const settled = await settleHold(tx, accountId, this.#hold.holdId, {
      // Never above what was reserved, whatever the second reading says.
      capturedNanos: bill.amount < this.#hold.amount ? bill.amount : this.#hold.amount,
      units: bill.units,
      priceVersion,
      answer: { text, keepMs },
    });
    if (!settled?.settledNow) throw problem('DEADLINE_EXCEEDED', { retryAfterMs: 1000 });
    // Under the wallet lock: what the effect stands on may be gone since it was read. Its own rows may look like a repeat to it.
    const [again] = await effect.read(tx, [this.#item]);
    if (again?.kind === 'refuse') throw again.problem;
    await confirmCaller(tx, this.#item);
    return { text, replayed: false, costNanos: settled.capturedNanos, balanceNanos: settled.balanceNanos };
  }

  /** `earlier`: the answer that the call repeats. Answers how the hold ended: `captured` when a commit without an answer had arrived. */
  async #giveBack(earlier: string | null): Promise<HoldSettlement | null> {
    const { accountId, keepMs } = this.#item;
    try {
      const answer = earlier === null ? undefined : { text: earlier, keepMs };
      return await this.#core.holds.release(accountId, this.#hold.holdId, answer);
    } catch (error) {
      this.#core.log.warn(
        { err: error, holdId: this.#hold.holdId },
        'a hold could not be released; it expires by itself',
      );
      return null;
    }
  }
}
