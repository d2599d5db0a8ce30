// Charges by the page: holds the maximum that a call may cost before anything is read, and captures the actual cost with its answer. A failure
// costs nothing.

import { chargeForWork, priceOfCall } from '../../../core/wallet/charge/charge.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Queryable } from '../../../db/database.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { Problem } from '../../../problems/problem.ts';
import { PAGES_CHARGED_MIN, PAGES_MAX } from '../limits.ts';

const FIXED_BYTES = 1_024;

/** What work came to. */
export interface Worked {
  readonly pages: number;
  readonly data: object;
}

/** `work` gets how many pages are paid for. Throws INSUFFICIENT_CREDIT before it, or when it needs more of them; and what `work` throws. */
export async function chargePages(ctx: CallContext, work: (pagesMax: number) => Promise<Worked>): Promise<Answer> {
  try {
    return await chargeAtMost(ctx, PAGES_MAX, work);
  } catch (error) {
    if (!(error instanceof Problem) || error.shortfall === undefined) throw error;
    const affordable = Number(error.shortfall.roomNanos / priceOfPage(ctx));
    if (affordable < PAGES_CHARGED_MIN || affordable >= PAGES_MAX) throw error;
    return chargeAtMost(ctx, affordable, (pagesMax) => work(pagesMax).catch((failure) => rethrown(failure, error)));
  }
}

function priceOfPage(ctx: CallContext): bigint {
  return priceOfCall(ctx, BigInt(PAGES_MAX)) / BigInt(PAGES_MAX);
}

/** What is too long for the credit left, and not for the service, is a matter of credit. */
function rethrown(failure: unknown, refusal: Problem): never {
  throw failure instanceof Problem && failure.detail === 'too_many_pages' ? refusal : failure;
}

function chargeAtMost(
  ctx: CallContext,
  pagesMax: number,
  work: (pagesMax: number) => Promise<Worked>,
): Promise<Answer> {
  const charge = { units: BigInt(pagesMax), effect, sequences: 0, bytes: FIXED_BYTES, rows: 1 };
  return chargeForWork(ctx, charge, true, async () => {
    const { pages, data } = await work(pagesMax);
    return `${Math.max(pages, PAGES_CHARGED_MIN)} ${JSON.stringify(data)}`;
  });
}

/** Charges the pages that stand before the answer, and counts them. */
class PagesEffect implements LaneEffect<string, bigint> {
  readonly name = 'pdf.pages';

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(_tx: Queryable, items: readonly LaneItem<string, bigint>[]): Promise<ReadVerdict<bigint>[]> {
    return items.map(({ input, units: most }) => {
      const units = input === '' ? most : BigInt(input.slice(0, input.indexOf(' ')));
      return { kind: 'go', context: units, units };
    });
  }

  write(tx: Queryable, admitted: readonly AdmittedItem<string, bigint>[]): string[] {
    const counted = admitted.map(({ item: { accountId, capability }, context: units }) => ({
      accountId,
      capability,
      units,
    }));
    void countAccepted(tx, counted);
    return admitted.map(({ item: { input } }) => input.slice(input.indexOf(' ') + 1));
  }
}

const effect = new PagesEffect();
