// Error codes of the vault module. Its files throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const vaultProblems = {
  RULE_REFUSED: problemEntry(
    403,
    'The rule of the connection does not let the call through.',
    '`code_detail` says what it refuses: the key, the host, the method, the path, or a limit of calls. vault.connection.get shows the rule; vault.connection.set changes it.',
  ),
  CONNECTION_BROKEN: problemEntry(
    409,
    'The connection cannot be used.',
    'Its credential has ended, was never connected, or was refused by its provider: `message` says which. Set it anew by vault.connection.set, or connect it by vault.connect.start.',
  ),
  SECRET_NEEDED: problemEntry(
    400,
    'The change needs the secret.',
    'Where a credential may be sent, and how, changes only in a call that brings the secret. Send `secret` with the change.',
  ),
} as const;

export const problem = problemsWith(vaultProblems);
