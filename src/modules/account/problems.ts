// Error codes of keys, webhooks and payments; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const accountProblems = {
  UNKNOWN_EVENT_TYPE: problemEntry(
    400,
    'An event type is not in the catalogue.',
    'Use the event types that the documentation of webhooks lists.',
  ),
  UNSUPPORTED_CURRENCY: problemEntry(
    400,
    'This deployment does not accept this currency.',
    'Use one of those that the message names; the wallet is in USD in any case.',
  ),
  VERIFICATION_FAILED: problemEntry(
    400,
    'The code is wrong, already used, or expired.',
    'Request a new code. A code works once, for 15 minutes, and ends after five wrong tries.',
  ),
  EXPIRY_TOO_LATE: problemEntry(
    400,
    'A key cannot hand out a secret that outlives itself.',
    'The calling key expires: name an expires_at no later than its own, or use a key that does not expire.',
  ),
  SCOPE_ESCALATION: problemEntry(
    403,
    'A key cannot grant or change more than it may do itself.',
    'Use a key whose scopes contain the requested ones and those of the key to be changed. code_detail `spend_cap`: use a key without a spend cap.',
  ),
  PAYMENT_METHOD_NOT_FOUND: problemEntry(
    404,
    'The payment method does not exist.',
    'Check the id; account.payment_method.list has them all.',
  ),
  TOPUP_NOT_FOUND: problemEntry(404, 'The top-up does not exist.', 'Check the id; account.topup.list has them all.'),
  RECEIVER_NOT_FOUND: problemEntry(
    404,
    'The webhook receiver does not exist.',
    'Check the receiver id, or the address that the sender has; account.webhooks.receive.list has both.',
  ),
  WEBHOOK_NOT_FOUND: problemEntry(404, 'The webhook does not exist.', 'Check the webhook id.'),
};

export const problem = problemsWith(accountProblems);
