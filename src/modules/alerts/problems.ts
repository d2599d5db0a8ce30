// Error codes of the alerts module. Its files throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const alertsProblems = {
  RULE_NOT_FOUND: problemEntry(
    404,
    'The alert rule does not exist.',
    'Check the name with GET /v1/alerts/rule/list, or set it with PUT /v1/alerts/rule/set.',
  ),
} as const;

export const problem = problemsWith(alertsProblems);
