// Error codes of the flags module; its files throw them, and shared ones, with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const flagProblems = {
  FLAG_NOT_FOUND: problemEntry(404, 'The flag does not exist.', 'Check its key; flags.list shows all of them.'),
};

export const problem = problemsWith(flagProblems);
