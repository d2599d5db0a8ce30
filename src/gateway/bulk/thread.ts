// A thread that reads bodies: loads the capability that a body is for and answers what the service would have made of it.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Capability } from '../../manifest/capability.ts';
import { Problem } from '../../problems/problem.ts';
import { type Endpoint, EndpointCompiler } from '../endpoint.ts';
import { readOutcome } from './outcome.ts';
import { type Done, type Job, plainOutcome, type Transfer, toPlain } from './wire.ts';

const LOW_PRIORITY = 10;
// Calls go first: on Linux this concerns the thread alone.
if (process.platform === 'linux') setPriority(LOW_PRIORITY);

const compiler = new EndpointCompiler();
const endpoints = new Map<string, Endpoint>();

async function endpointOf({ source, capability: id }: Job): Promise<Endpoint> {
  let endpoint = endpoints.get(id);
  if (endpoint === undefined) {
    const exported = Object.values((await import(source)) as Record<string, Partial<Capability>>);
    const capability = exported.find((candidate) => candidate?.id === id);
    if (capability === undefined) throw new Error(`${source} exports no capability ${id}`);
    endpoint = compiler.compile('', () => undefined, capability as Capability);
    endpoints.set(id, endpoint);
  }
  return endpoint;
}

async function read(job: Job): Promise<[Done, Transfer]> {
  const { body, key } = job;
  try {
    const endpoint = await endpointOf(job);
    const { outcome, transfer } = readOutcome(endpoint, Buffer.concat(body), key);
    return [{ outcome: plainOutcome(outcome) }, transfer];
  } catch (error) {
    if (error instanceof Problem) return [{ refused: toPlain(error) }, []];
    return [{ broken: String((error as Error).stack ?? error) }, []];
  }
}

parentPort?.on('message', async (job: Job) => {
  const [done, transfer] = await read(job);
  parentPort?.postMessage(done, transfer as ArrayBuffer[]);
});
