// Error codes of metrics; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const metricsProblems = {
  UNSUPPORTED_QUERY: problemEntry(
    400,
    'The query uses a part of PromQL that is not supported.',
    'The message names the part. /docs/guides/metrics.md lists what is supported.',
  ),
};

export const problem = problemsWith(metricsProblems);
