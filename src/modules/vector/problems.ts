// Error codes of vectors. Files of the module throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const vectorProblems = {
  DIMENSION_MISMATCH: problemEntry(
    400,
    "The embedding's length does not match the collection's dimension.",
    'Send embeddings of exactly the collection dimension.',
  ),
  COLLECTION_NOT_FOUND: problemEntry(
    404,
    'The collection does not exist.',
    'Create it with POST /v1/vector/collection/create, or check the name.',
  ),
};

export const problem = problemsWith(vectorProblems);
