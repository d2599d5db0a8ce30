// Module account: API keys, wallet, budget, usage, ledger, events, webhooks, tier.

import { inWords } from '../../kit/event-kind.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { spendSource, webhookSource } from './alert-sources.ts';
import { approvalsDecide } from './capabilities/approvals/decide.ts';
import { approvalsGet } from './capabilities/approvals/get.ts';
import { approvalsList } from './capabilities/approvals/list.ts';
import { approvalsRuleDelete } from './capabilities/approvals/rule-delete.ts';
import { approvalsRuleSet } from './capabilities/approvals/rule-set.ts';
import { approvalsRules } from './capabilities/approvals/rules.ts';
import { approvalsWait } from './capabilities/approvals/wait.ts';
import { autorechargeConfigure } from './capabilities/autorecharge/configure.ts';
import { autorechargeEvents } from './capabilities/autorecharge/events.ts';
import { autorechargeGet } from './capabilities/autorecharge/get.ts';
import { balance } from './capabilities/balance.ts';
import { budgetGet } from './capabilities/budget-get.ts';
import { budgetSet } from './capabilities/budget-set.ts';
import { emailBind } from './capabilities/email/bind.ts';
import { emailVerify } from './capabilities/email/verify.ts';
import { eventsList } from './capabilities/events-list.ts';
import { keysAws } from './capabilities/keys/aws.ts';
import { keysCreate } from './capabilities/keys/create.ts';
import { deviceEvents } from './capabilities/keys/events.ts';
import { keysList } from './capabilities/keys/list.ts';
import { keysRevoke } from './capabilities/keys/revoke.ts';
import { keysRotate } from './capabilities/keys/rotate.ts';
import { keysSuspectedCompromise } from './capabilities/keys/suspected-compromise.ts';
import { keysUpdate } from './capabilities/keys/update.ts';
import { ledgerList } from './capabilities/ledger-list.ts';
import { paymentMethodAttach } from './capabilities/payment-method/attach.ts';
import { paymentMethodDelete } from './capabilities/payment-method/delete.ts';
import { paymentMethodList } from './capabilities/payment-method/list.ts';
import { paymentMethodSetDefault } from './capabilities/payment-method/set-default.ts';
import { remove } from './capabilities/profile/delete.ts';
import { exportAccount } from './capabilities/profile/export.ts';
import { get } from './capabilities/profile/get.ts';
import { update } from './capabilities/profile/update.ts';
import { requestsGet } from './capabilities/requests/get.ts';
import { requestsList } from './capabilities/requests/list.ts';
import { requestsSettings, requestsSettingsGet } from './capabilities/requests/settings.ts';
import { requestsTail } from './capabilities/requests/tail.ts';
import { routingGet } from './capabilities/routing/get.ts';
import { routingSet } from './capabilities/routing/set.ts';
import { routingTest } from './capabilities/routing/test.ts';
import { approvalFinder, requestFinder, search } from './capabilities/search.ts';
import { subscriptionCancel } from './capabilities/subscription/cancel.ts';
import { subscriptionEvents } from './capabilities/subscription/events.ts';
import { subscriptionGet } from './capabilities/subscription/get.ts';
import { subscriptionResume } from './capabilities/subscription/resume.ts';
import { tier } from './capabilities/tier/tier.ts';
import { tierUpgrade } from './capabilities/tier/upgrade.ts';
import { topupEvents } from './capabilities/topup/events.ts';
import { topupGet } from './capabilities/topup/get.ts';
import { topupList } from './capabilities/topup/list.ts';
import { topup } from './capabilities/topup/topup.ts';
import { usage } from './capabilities/usage.ts';
import { usageTimeseries } from './capabilities/usage-timeseries.ts';
import { webhooksDefaultSecret } from './capabilities/webhooks/default-secret.ts';
import { webhooksDefaultSecretRotate } from './capabilities/webhooks/default-secret-rotate.ts';
import { webhooksDelete } from './capabilities/webhooks/delete.ts';
import { webhooksDeliveries } from './capabilities/webhooks/deliveries.ts';
import { webhooksGet } from './capabilities/webhooks/get.ts';
import { webhooksList } from './capabilities/webhooks/list.ts';
import { receiveCreate } from './capabilities/webhooks/receive/create.ts';
import { receiveDelete } from './capabilities/webhooks/receive/delete.ts';
import { receiveGet } from './capabilities/webhooks/receive/get.ts';
import { receiveList } from './capabilities/webhooks/receive/list.ts';
import { receiveReplay } from './capabilities/webhooks/receive/replay.ts';
import { receiveRequests } from './capabilities/webhooks/receive/requests.ts';
import { receiveTest } from './capabilities/webhooks/receive/test.ts';
import { receiveUpdate } from './capabilities/webhooks/receive/update.ts';
import { webhooksRedeliver } from './capabilities/webhooks/redeliver.ts';
import { webhooksRegister } from './capabilities/webhooks/register.ts';
import { webhooksTest } from './capabilities/webhooks/test.ts';
import { webhooksUpdate } from './capabilities/webhooks/update.ts';
import { accountWords } from './event-words.ts';
import { accountEvents } from './events.ts';
import { isEmpty } from './is-empty.ts';
import { accountProblems } from './problems.ts';
import { receiverLimits } from './receivers/limits.ts';
import { ReceivedLog } from './receivers/log.ts';
import { ReceiverRing } from './receivers/ring.ts';
import { receiveRoute } from './receivers/route.ts';
import { CallBlocks } from './requests/archive.ts';
import type { AccountState } from './state.ts';

export const account = defineModule<AccountState>({
  name: 'account',
  summary:
    'API keys, wallet and budget, usage, ledger, events, webhooks, tier, subscription and top-ups of the account.',
  status: 'ga',
  shownBy: ['account.keys.create', 'account.webhooks.redeliver'],
  parts: [
    {
      name: 'account.approvals',
      summary: 'Calls that a person approves before they run, and the rules that say which.',
      shownBy: ['account.approvals.rule.set', 'account.approvals.wait'],
    },
    {
      name: 'account.webhooks.receive',
      summary: 'Addresses that receive webhooks of other services: each request becomes a message.',
      shownBy: ['account.webhooks.receive.create', 'account.webhooks.receive.test'],
    },
  ],
  capabilities: [
    get,
    update,
    exportAccount,
    remove,
    emailBind,
    emailVerify,
    balance,
    budgetGet,
    budgetSet,
    keysCreate,
    keysList,
    keysRevoke,
    keysRotate,
    keysSuspectedCompromise,
    keysUpdate,
    keysAws,
    usage,
    usageTimeseries,
    ledgerList,
    eventsList,
    requestsList,
    requestsGet,
    requestsSettingsGet,
    requestsSettings,
    webhooksRegister,
    webhooksList,
    webhooksGet,
    webhooksUpdate,
    webhooksDelete,
    webhooksDeliveries,
    webhooksTest,
    webhooksDefaultSecret,
    webhooksDefaultSecretRotate,
    webhooksRedeliver,
    receiveCreate,
    receiveList,
    receiveGet,
    receiveUpdate,
    receiveDelete,
    receiveRequests,
    receiveTest,
    receiveReplay,
    approvalsRuleSet,
    approvalsRules,
    approvalsRuleDelete,
    approvalsList,
    approvalsGet,
    approvalsWait,
    approvalsDecide,
    topup,
    topupGet,
    topupList,
    paymentMethodList,
    paymentMethodAttach,
    paymentMethodSetDefault,
    paymentMethodDelete,
    autorechargeGet,
    autorechargeConfigure,
    tierUpgrade,
    routingGet,
    routingSet,
    routingTest,
    subscriptionGet,
    subscriptionCancel,
    subscriptionResume,
  ],
  finders: [
    finder('key', keysList, ({ key_id: id, name }) => ({ id, name: name ?? id, path: `/keys/${id}` })),
    finder('webhook', webhooksList, ({ webhook_id: id, url }) => ({ id, name: url, path: `/webhooks/${id}` })),
    finder('webhook receiver', receiveList, ({ receiver_id: id, name }) => ({
      id,
      name,
      path: `/webhooks/receivers/${id}`,
    })),
    finder('approval rule', approvalsRules, ({ name }) => ({
      id: name,
      name,
      path: `/approvals/rules/${encodeURIComponent(name)}`,
    })),
    approvalFinder,
    requestFinder,
  ],
  alertSources: [spendSource, webhookSource],
  console: async () => (await import('./console/index.ts')).accountConsole,
  rawRoutes: [requestsTail, receiveRoute],
  start(core) {
    const archive = new CallBlocks(core);
    core.requests.archive = archive;
    return { core, archive, receivers: new ReceiverRing(core), received: new ReceivedLog(core) };
  },
  close: ({ received }) => received.flush(),
  sweeps: ({ archive, received }) => [...archive.store.sweeps(), received.sweep()],
  limits: receiverLimits,
  derived: (offer) => [tier(offer), search(offer)],
  events: inWords(accountWords, [
    ...[...accountEvents, ...deviceEvents, ...topupEvents, ...autorechargeEvents, ...subscriptionEvents],
  ]),
  problems: accountProblems,
  isEmpty,
});
