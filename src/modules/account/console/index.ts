// Console pages of module account, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { APPROVALS, countWaiting } from './approvals/approval.ts';
import { approvalsPage } from './approvals/approvals.ts';
import { approvalPage } from './approvals/one.ts';
import { rulePages, rulesPage } from './approvals/rules.ts';
import { eventsPage } from './events/events.ts';
import { leakedPage, revokePage } from './keys/ends.ts';
import { keysPage } from './keys/keys.ts';
import { keyPage } from './keys/one.ts';
import { overviewPage } from './overview/overview.ts';
import { accountDeletePage, accountPage } from './profile/account.ts';
import { receiverPages } from './receivers/one.ts';
import { receiversPage } from './receivers/receivers.ts';
import { requestPage } from './requests/one.ts';
import { auditPage, requestsPage } from './requests/requests.ts';
import { usagePage } from './usage/usage.ts';
import { removeCardPage } from './wallet/remove.ts';
import { walletPage } from './wallet/wallet.ts';
import { failingWebhooks } from './webhooks/failing.ts';
import { webhookPages } from './webhooks/one.ts';
import { webhooksPage } from './webhooks/webhooks.ts';

export const accountConsole: ModuleConsole = {
  pages: [
    ...[
      overviewPage,
      webhooksPage,
      receiversPage,
      ...receiverPages,
      ...webhookPages,
      walletPage,
      removeCardPage,
      usagePage,
    ],
    ...[requestsPage, requestPage, auditPage],
    ...[eventsPage, keysPage, keyPage, revokePage, leakedPage],
    ...[approvalsPage, rulesPage, ...rulePages, approvalPage],
    ...[accountPage, accountDeletePage],
  ],
  failing: { path: '/webhooks', of: failingWebhooks },
  waiting: { path: APPROVALS, of: countWaiting },
};
