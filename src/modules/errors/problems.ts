// Error codes of error tracking; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const errorsProblems = {
  EVENT_NOT_FOUND: problemEntry(
    404,
    'The event does not exist.',
    'Check the event id; events are kept for a limited time.',
  ),
  GROUP_NOT_FOUND: problemEntry(404, 'The error group does not exist.', 'Check the group id.'),
};

export const problem = problemsWith(errorsProblems);
