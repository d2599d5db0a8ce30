// One service with models, one account with money, for tests.
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

const funds = {
  name: 'test_ai_funds',
  text: 'SELECT w.balance_nanos AS balance, w.held_nanos AS held FROM core.wallet w WHERE w.account_id = $1',
};
export class AiBench {
  readonly service: TestService;
  readonly account: TestAccount;

  constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
  }

  async funds(accountId = this.account.accountId): Promise<{ readonly balance: bigint; readonly held: bigint }> {
    const { rows } = await this.service.core.db.query<{ balance: bigint; held: bigint }>(funds, [accountId]);
    return rows[0] as { balance: bigint; held: bigint };
  }

  async balanceNanos(): Promise<bigint> {
    return (await this.funds()).balance;
  }

  async heldNanos(): Promise<bigint> {
    return (await this.funds()).held;
  }

  /** The secret of another account with so much. */
  async poor(usd = 0): Promise<string> {
    return (await createTestAccount(this.service.core, usd)).secret;
  }
}

export async function startAi(options: TestServiceOptions = {}, usd = 1): Promise<AiBench> {
  const service = await startTestService(options);
  return new AiBench(service, await createTestAccount(service.core, usd));
}
