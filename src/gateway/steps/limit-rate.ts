// Rates of free calls and the number of running calls, per account and process.
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';

export const limitRate: Step = (call, gateway) => {
  const { limiter } = gateway;
  if (limiter === null) return;
  const { accountId, tier, endpoint } = call;
  if (endpoint.limitClass !== 'none') {
    const grant = limiter.take(accountId, tier, endpoint.limitClass);
    call.headers['ratelimit-policy'] = grant.policy;
    call.headers.ratelimit = grant.remaining;
    call.limiter = limiter;
    if (!grant.allowed) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
  }
  // A waiting consume holds nothing and is not counted.
  if (endpoint.capability.waits === true) return;
  if (!limiter.begin(accountId, tier)) throw problem('CONCURRENCY_LIMITED', { retryAfterMs: 1000 });
  call.occupy(() => limiter.end(accountId));
};
