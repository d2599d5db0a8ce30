// The operator module: actions of the person who runs the service on other accounts. A null or `*` scope never includes it, and every capability
// has the gate `operator`.
import { OPERATOR_MODULE } from '../../core/callers/scopes.ts';
import { defineModule } from '../../kit/module.ts';
import { accountsGet } from './capabilities/accounts-get.ts';
import { accountsList } from './capabilities/accounts-list.ts';
import { accountsUpdate } from './capabilities/accounts-update.ts';
import { creditGrant } from './capabilities/credit-grant.ts';
import { health } from './capabilities/health.ts';
import { kycSet } from './capabilities/kyc-set.ts';
import { outboxGet, outboxList } from './capabilities/outbox.ts';
import { topupRefund } from './capabilities/topup-refund.ts';
import { topupApprove, topupReject } from './capabilities/topup-review.ts';
import { topupsList } from './capabilities/topups-list.ts';

export const operator = defineModule<null>({
  name: OPERATOR_MODULE,
  summary:
    'For who runs the service: accounts, credit, verification, top-ups under review, refunds and mail that is not sent.',
  status: 'ga',
  shownBy: ['operator.accounts.get', 'operator.credit.grant'],
  capabilities: [
    accountsList,
    accountsGet,
    accountsUpdate,
    creditGrant,
    kycSet,
    topupsList,
    topupApprove,
    topupReject,
    topupRefund,
    outboxList,
    outboxGet,
    health,
  ],
  console: async () => (await import('./console/index.ts')).operatorConsole,
  start: () => null,
});
