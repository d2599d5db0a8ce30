// Error codes of keys and webhooks; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const accountProblems = {
  UNKNOWN_EVENT_TYPE: problemEntry(
    400,
    'An event type is not in the catalogue.',
    'Use the event types that the documentation of webhooks lists.',
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
  WEBHOOK_NOT_FOUND: problemEntry(404, 'The webhook does not exist.', 'Check the webhook id.'),
};

export const problem = problemsWith(accountProblems);
