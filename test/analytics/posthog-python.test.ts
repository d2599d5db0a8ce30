// posthog-python unchanged: it names its key behind the events. It runs where an interpreter has the package (TEST_PYTHONS).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printedByPythons } from '../support/pythons.ts';
import { AnalyticsBench } from './harness.ts';

const found = printedByPythons('import posthog; print(posthog.VERSION)').find(({ printed }) => printed !== null);
const EVENTS = 60;
const PROGRAM = `
import os, sys
from posthog import Posthog
client = Posthog(sys.argv[1], host=sys.argv[2], gzip=sys.argv[3] == 'gzip', flush_at=${EVENTS})
for i in range(${EVENTS}):
    client.capture(sys.argv[3], distinct_id='user-1', properties={'n': i, 'text': os.urandom(10000).hex()})
client.shutdown()
`;

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

test.skipIf(found === undefined)(
  `posthog-python sends long batches${found === undefined ? ' (not here: the package posthog)' : ''}`,
  async () => {
    for (const form of ['plain', 'gzip']) {
      const args = ['-c', PROGRAM, bench.account.secret, bench.host, form];
      await promisify(execFile)(found?.python ?? '', args, { timeout: 60_000 });
      const { series } = await bench.ask('trends', { events: [form], interval: 'day', include_bots: true });
      expect(series[0].total, form).toBe(EVENTS);
    }
  },
);
