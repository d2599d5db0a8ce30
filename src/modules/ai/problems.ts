// Error codes of AI; module files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const aiProblems = {
  BATCH_NOT_FOUND: problemEntry(404, 'The batch does not exist.', 'Check the id; ai.batch.list has them all.'),
};

export const problem = problemsWith(aiProblems);
