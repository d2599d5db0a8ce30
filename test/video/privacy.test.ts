// What a vendor says of a video, which may quote its prompt, is told to its caller and stands in no log line.
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Wire } from '../support/vendors/wire.ts';
import { replicateWire } from '../support/vendors/wires.ts';
import { VendorBench } from './vendors-harness.ts';

const MARK = 'marzipan-7391';
const WORDS = `no: "${MARK}"`;
const quoting: Wire = {
  ...replicateWire,
  refusal: () => ({ status: 422, body: { title: 'Input validation failed', detail: WORDS, status: 422 } }),
  status: (job, urls) => {
    const reply = replicateWire.status(job, urls);
    return job.state === 'failed' ? { ...reply, body: { ...(reply.body as object), error: WORDS } } : reply;
  },
};

let bench: VendorBench;
const lines: string[] = [];
beforeAll(async () => {
  bench = await VendorBench.at([{ id: 'acme', wire: quoting }]);
  const { log } = bench.service.core;
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    const write = log[level].bind(log);
    log[level] = (...args: Parameters<typeof write>) => {
      lines.push(inspect(args, { depth: 12 }));
      write(...args);
    };
  }
});
afterAll(() => bench?.close());

const told = (what: string) => lines.filter((line) => line.includes(what)).length;

test('a prompt that a vendor quotes is in no log line, where it refuses a video and where it fails at one', async () => {
  bench.double('acme').script('submit', { refusal: 'invalid' });
  const refused = await bench.soon((await bench.job({ prompt: `A video of ${MARK}.` })).job_id);
  const { id, at } = await bench.taken('acme', { prompt: `A video of ${MARK}.` });
  at.state = 'failed';
  const failed = await bench.soon(id);
  for (const { state, error } of [refused, failed])
    expect([state, error.message]).toEqual(['failed', expect.stringContaining(MARK)]);
  expect([told('a vendor has not accepted a job'), told('a vendor has failed at a job'), told(MARK)]).toEqual([
    1, 1, 0,
  ]);
});
