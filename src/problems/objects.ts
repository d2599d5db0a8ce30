// Error codes of objects in buckets, which calls of several modules use.
import { problemEntry } from './entry.ts';

export const objectProblems = {
  BUCKET_NOT_FOUND: problemEntry(
    404,
    'The bucket does not exist.',
    'Check its name with GET /v1/storage/bucket/list, or create it with POST /v1/storage/bucket/create.',
  ),
  OBJECT_NOT_FOUND: problemEntry(
    404,
    'The bucket has no object under this key.',
    'Check the key with GET /v1/storage/object/list.',
  ),
  PRECONDITION_FAILED: problemEntry(
    412,
    'The object is not in the state that the call asks for.',
    'Read the object again, and decide whether the call is still wanted.',
  ),
};
