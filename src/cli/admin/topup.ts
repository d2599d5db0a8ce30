import { Command } from 'commander';
import { admission } from '../../core/admission.ts';
import { createLog } from '../../core/process/log.ts';
import { refundTopup } from '../../payments/clawbacks/refund.ts';
import { ownerOfTopup } from '../../payments/refs.ts';
import type { PaymentCore } from '../../payments/topups/create.ts';
import { topupRecord } from '../../payments/topups/record.ts';
import { approveTopup, rejectTopup } from '../../payments/topups/review.ts';
import type { TopupRow } from '../../payments/topups/store.ts';
import { openPayments } from '../../service/payment-provider.ts';
import { usdAmount } from '../fields.ts';
import { CommandError, print } from '../output.ts';
import { type Session, withSession } from './session.ts';

type Act = (core: PaymentCore, accountId: string, topupId: string) => Promise<TopupRow | null>;

export function topupCommand(): Command {
  const topup = new Command('topup').description('Decide on top-ups under review, and pay top-ups back.');
  const act = (name: string, description: string) =>
    topup
      .command(name)
      .description(description)
      .argument('<topup>', 'id of the top-up')
      .option('--json', 'print one JSON object');
  act('approve', 'Credit a top-up that is under review.').action(decide(approveTopup));
  act(
    'reject',
    'End a top-up that is under review as failed. What was paid is to be paid back at the provider.',
  ).action(decide(rejectTopup));
  act('refund', 'Pay back what is left of a top-up, or a part of it. The credit leaves the wallet.')
    .option('--usd <amount>', 'how much of it in USD, such as 5 or 0.25 (default: all that is left)', usdAmount)
    .action((id: string, { usd, json = false }: { usd?: bigint; json?: boolean }) =>
      decide(
        async (core, accountId, topupId) => (await refundTopup(core, accountId, topupId, usd ?? null))?.topup ?? null,
      )(id, { json }),
    );
  return topup;
}

function decide(act: Act) {
  return async (topupId: string, { json = false }: { json?: boolean }): Promise<void> => {
    const row = await withSession(async (session) => {
      const owner = await ownerOfTopup(session.db, topupId);
      const decided = owner === null ? null : await act(await coreOf(session), owner, topupId);
      if (decided === null) throw new CommandError(`there is no top-up ${topupId}`);
      return decided;
    });
    const record = topupRecord(row);
    const text = `${topupId}: ${record.status}, ${record.amount_usd} USD, of which ${record.refunded_usd} USD went back`;
    print({ json: record, text }, json);
  };
}

/** What payments need of a service, for as long as the command takes. */
async function coreOf({ db, config }: Session): Promise<PaymentCore> {
  const { baseUrl } = config;
  const payments = await openPayments(db, baseUrl, config.payments);
  return { db, baseUrl, payments, log: createLog('silent'), bounds: admission, secrets: null };
}
