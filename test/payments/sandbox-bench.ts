// The sandbox with what people do there: paying on its page, and what a dashboard would do, by rows.
import { clockNow } from '../../src/core/database-clock.ts';
import type { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { newId } from '../../src/lib/ids.ts';
import { testCard } from '../../src/payments/sandbox/cards.ts';
import { authenticate, payWith } from '../../src/payments/sandbox/pay.ts';
import { SandboxProvider } from '../../src/payments/sandbox/provider.ts';
import type { ProviderBench } from './conformance.ts';

const insertReturn = statement(
  'test_sandbox_return',
  `INSERT INTO core.sandbox_return (ref, payment_ref, account_id, kind, status, amount_minor, created_at)
   SELECT $1, $2, p.account_id, $3, $4, $5, core.clock_now()
     FROM (SELECT account_id FROM core.sandbox_payment WHERE ref = $2
           UNION ALL SELECT account_id FROM core.sandbox_subscription WHERE starts_with($2, ref || '_')) p`,
);
const reprice = statement(
  'test_sandbox_reprice',
  'UPDATE core.sandbox_subscription SET amount_minor = $2 WHERE ref = $1',
);
const closeDispute = statement(
  'test_sandbox_close_dispute',
  `UPDATE core.sandbox_return SET status = $2 WHERE ref = $1 AND kind = 'dispute'`,
);

export function sandboxBench(
  db: Database,
  baseUrl: string,
  advance: (seconds: number) => Promise<void>,
): ProviderBench {
  const give = async (paymentRef: string, kind: 'refund' | 'dispute', status: string, amountMinor: number) => {
    const ref = newId(kind === 'refund' ? 'sbx_re_' : 'sbx_dp_');
    const { count } = await db.query(insertReturn, [ref, paymentRef, kind, status, amountMinor]);
    if (count !== 1) throw new Error(`the sandbox has no payment ${paymentRef}`);
    return ref;
  };
  const pay: ProviderBench['pay'] = async (url, kind) => {
    const token = url.slice(url.lastIndexOf('/') + 1);
    const card = testCard(kind);
    if (card === undefined || (await payWith(db, token, card)) === null) throw new Error(`no payment at ${url}`);
    if (card.outcome === 'authenticate') await authenticate(db, token, true);
  };
  return {
    provider: new SandboxProvider(db, baseUrl),
    pay,
    payInvoice: (url) => pay(url, 'pays'),
    async reprice(subscriptionRef, amountMinor) {
      await db.query(reprice, [subscriptionRef, amountMinor]);
    },
    advance,
    nowMs: () => clockNow(db),
    async refundElsewhere(paymentRef, amountMinor) {
      await give(paymentRef, 'refund', 'succeeded', amountMinor);
    },
    dispute: (paymentRef, amountMinor) => give(paymentRef, 'dispute', 'open', amountMinor),
    async closeDispute(disputeRef, outcome) {
      await db.query(closeDispute, [disputeRef, outcome]);
    },
  };
}
