// Error codes of storage. Files of the module throw these and the shared ones with this `problem`.
import { problemEntry } from '../../problems/catalogue.ts';
import { problemsWith } from '../../problems/problem.ts';

export const storageProblems = {
  BUCKET_NOT_EMPTY: problemEntry(
    409,
    'The bucket holds objects.',
    'Delete its objects first: list them with GET /v1/storage/object/list, delete them with POST /v1/storage/object/delete.',
  ),
};

export const problem = problemsWith(storageProblems);
