// Error codes of analytics; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const analyticsProblems = {
  PERSON_NOT_FOUND: problemEntry(404, 'No person has this distinct ID.', 'Check distinct_id.'),
  QUERY_TOO_LARGE: problemEntry(
    400,
    'The query reads too many events.',
    'Ask for a shorter period, or break down by a property with fewer values.',
  ),
};

export const problem = problemsWith(analyticsProblems);
