// Error codes of ai; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const aiProblems = {
  BATCH_NOT_FOUND: problemEntry(
    404,
    'The batch does not exist.',
    'Check the batch id with GET /v1/ai/batch/list; batches are kept for 7 days after their end.',
  ),
  BATCH_ENDED: problemEntry(
    409,
    'The batch ended before this request ran.',
    'It was cancelled, or its day was over: send the request in another batch.',
  ),
};

export const problem = problemsWith(aiProblems);
