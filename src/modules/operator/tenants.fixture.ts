// The operator's module names other accounts, and what is theirs: nobody but the operator gets anything by it.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  nobody: {
    account: 'acct_email_1111111111111111111111',
    topup: 'top_1111111111111111111111',
    mail: 'mail_1111111111111111111111',
  },
  async fill({ accountId, act, db }) {
    const { topup_id } = await act('account.topup', {});
    await act('account.email.bind', { email: 'tenant@example.org' });
    const { rows } = await db.query<{ mail_id: string }>(
      { name: 'test_mail_of_account', text: 'SELECT mail_id FROM core.mail WHERE account_id = $1 LIMIT 1' },
      [accountId],
    );
    return { account: accountId, topup: topup_id, mail: rows[0]?.mail_id ?? '' };
  },
  fillOther: async () => ({}),
  aims: {
    'operator.accounts.list': [(names) => ({ search: names.account })],
    'operator.accounts.get': [(names) => ({ account_id: names.account })],
    'operator.accounts.update': [
      (names) => ({ account_id: names.account, suspended: true }),
      (names) => ({ account_id: names.account, email: 'taken@example.org', tier: 'enterprise' }),
    ],
    'operator.credit.grant': [(names) => ({ account_id: names.account, amount_usd: 5 })],
    'operator.kyc.set': [(names) => ({ account_id: names.account, kyc_status: 'rejected' })],
    'operator.topups.list': [() => ({}), (names) => ({ account_id: names.account })],
    'operator.topup.approve': [(names) => ({ topup_id: names.topup })],
    'operator.topup.reject': [(names) => ({ topup_id: names.topup })],
    'operator.topup.refund': [(names) => ({ topup_id: names.topup })],
    'operator.outbox.list': [() => ({})],
    'operator.outbox.get': [(names) => ({ mail_id: names.mail })],
    'operator.health': [() => ({})],
  },
};
