// Runs a part of a call as a span of its own.
import { Problem } from '../../problems/problem.ts';
import type { Span, Tracing } from './tracing.ts';

/** Does `work`; where there are traces, as a child of the span that runs. */
export function withSpan<Result>(tracing: Tracing | null, name: string, work: () => Promise<Result>): Promise<Result> {
  const parent = tracing?.current ?? null;
  if (tracing === null || parent === null) return work();
  const span = tracing.begin(parent);
  return tracing.within(span, () => endingWith(span, name, work));
}

async function endingWith<Result>(span: Span, name: string, work: () => Promise<Result>): Promise<Result> {
  const end = (code: string | null, isError: boolean) =>
    span.end({ name, kind: 'internal', isError, attributes: { 'qm.code': code } });
  try {
    const result = await work();
    end(null, false);
    return result;
  } catch (error) {
    if (error instanceof Problem) end(error.code, error.httpStatus >= 500);
    else end('INTERNAL_ERROR', true);
    throw error;
  }
}
