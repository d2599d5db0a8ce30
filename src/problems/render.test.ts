import { expect, test } from 'vitest';
import { type ProblemCode, type ProblemEntry, sharedProblems } from './catalogue.ts';
import { problem } from './problem.ts';
import { renderProblem } from './render.ts';

const typedEntries = () => Object.entries(sharedProblems) as [ProblemCode, ProblemEntry][];
const ids = { requestId: 'req_1', traceId: 't' };

test.each(typedEntries())(
  '%s tells when to try again only if the same call may succeed then',
  (code, { retryable }) => {
    const failure = problem(code, { retryAfterMs: 1_500 });
    const rendered = renderProblem(failure, ids, 'https://qm.example');
    expect([rendered.retryable, rendered.retry_after_ms]).toEqual([retryable, retryable ? 1_500 : undefined]);
    // What every other form of an answer (the header Retry-After, pages, other protocols) is made from.
    expect(failure.retryAfterMs).toBe(retryable ? 1_500 : undefined);
  },
);

test('a shortfall is told in USD, with null for what is not known or not shown', () => {
  const shortfall = {
    neededNanos: 20_000n,
    leftNanos: 1n,
    capNanos: null,
    windowEndMs: 0,
    windowLeftMs: 0,
    liftedBy: 'x',
    roomNanos: 5n,
  };
  expect(renderProblem(problem('INSUFFICIENT_CREDIT', { shortfall }), ids, '').shortfall).toEqual({
    needed_usd: 0.00002,
    left_usd: 1e-9,
    cap_usd: null,
    window_end: '1970-01-01T00:00:00.000Z',
    lifted_by: 'x',
  });
});
