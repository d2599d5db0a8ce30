// Sources and results that are objects in buckets. Until there are buckets every name is one of a bucket that does not exist.
import { type Problem, problem } from '../../problems/problem.ts';
import type { SourceBounds, SourceBytes, SourceContext } from './source.ts';

export interface StoredName {
  readonly bucket: string;
  readonly key: string;
}

/** Throws NOT_FOUND for a bucket or an object that does not exist. */
export async function readStored(_ctx: SourceContext, name: StoredName, { param }: SourceBounds): Promise<SourceBytes> {
  throw noBucket(name, param);
}

/** Keeps the bytes as an object of the account; throws NOT_FOUND for a bucket that does not exist. */
export async function storeResult(
  _ctx: SourceContext,
  name: StoredName,
  _result: { readonly bytes: Uint8Array; readonly contentType: string },
): Promise<void> {
  throw noBucket(name, 'store');
}

/** Before work is done whose result is to be kept there. */
export async function requireBucket(_ctx: SourceContext, name: StoredName): Promise<void> {
  throw noBucket(name, 'store');
}

function noBucket({ bucket }: StoredName, param: string): Problem {
  return problem('NOT_FOUND', { param: `${param}.bucket`, message: `The bucket ${bucket} does not exist.` });
}
