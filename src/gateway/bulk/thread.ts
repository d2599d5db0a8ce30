// Entry point of a body-reading thread: imports the capability of a body and returns the result that the event loop would have produced.
import type { Capability } from '../../kit/capability.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { serve } from '../../lib/threads.ts';
import { Problem } from '../../problems/problem.ts';
import { compileEndpoint, type Endpoint } from '../endpoint.ts';
import { readOutcome } from './outcome.ts';
import { type Done, type Job, plainOutcome, type Read, toPlain } from './wire.ts';

const endpoints = new Map<string, Endpoint>();

async function endpointOf(job: Job): Promise<Endpoint> {
  let endpoint = endpoints.get(job.id);
  if (endpoint === undefined) {
    endpoint = compileEndpoint('', () => undefined, await importById<Capability>(job));
    endpoints.set(job.id, endpoint);
  }
  return endpoint;
}

async function importById<T extends { readonly id: string }>({ source, id }: Job): Promise<T> {
  const found = Object.values((await import(source)) as Record<string, Partial<T>>).find((one) => one?.id === id);
  if (found === undefined) throw new Error(`${source} exports no ${id}`);
  return found as T;
}

async function runJob(job: Job): Promise<Read> {
  const { key } = job;
  const body = Buffer.concat(job.body);
  try {
    if (key === null) return only({ result: (await importById<BodyTask<unknown>>(job)).run(body) });
    const { outcome, transfer } = readOutcome(await endpointOf(job), body, key);
    return { done: { outcome: plainOutcome(outcome) }, transfer };
  } catch (error) {
    if (error instanceof Problem) return only({ refused: toPlain(error) });
    return only({ broken: String((error as Error).stack ?? error) });
  }
}

const only = (done: Done): Read => ({ done, transfer: [] });

serve<Job, Read>(runJob, ({ transfer }) => transfer);
