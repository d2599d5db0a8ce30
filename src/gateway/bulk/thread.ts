// A thread that reads bodies: loads the capability that a body is for and answers what the service would have made of it.
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Capability } from '../../kit/capability.ts';
import type { BodyTask } from '../../kit/raw-route.ts';
import { Problem } from '../../problems/problem.ts';
import { compileEndpoint, type Endpoint } from '../endpoint.ts';
import { readOutcome } from './outcome.ts';
import { type Done, type Job, plainOutcome, type Transfer, toPlain } from './wire.ts';

// Calls go first: on Linux this concerns the thread alone.
if (process.platform === 'linux' && getPriority() < (workerData as number)) setPriority(workerData as number);

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

async function runJob(job: Job): Promise<[Done, Transfer]> {
  const { key } = job;
  const body = Buffer.concat(job.body);
  try {
    if (key === null) return [{ result: (await importById<BodyTask<unknown>>(job)).run(body) }, []];
    const { outcome, transfer } = readOutcome(await endpointOf(job), body, key);
    return [{ outcome: plainOutcome(outcome) }, transfer];
  } catch (error) {
    if (error instanceof Problem) return [{ refused: toPlain(error) }, []];
    return [{ broken: String((error as Error).stack ?? error) }, []];
  }
}

parentPort?.on('message', async (job: Job) => {
  const [done, transfer] = await runJob(job);
  parentPort?.postMessage(done, transfer as ArrayBuffer[]);
});
