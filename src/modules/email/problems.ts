// The error codes of the email module.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const emailProblems = {
  DOMAIN_NOT_VERIFIED: problemEntry(
    403,
    'The domain of the sender is not verified for this account.',
    'Call email.domain.verify, publish the records that it answers, and send again.',
  ),
};

export const problem = problemsWith(emailProblems);
