// A service whose operator has name servers elsewhere: a file of vendors, and zones at them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestServiceOptions } from '../support/service.ts';
import { type DnsBench, startDnsBench } from './harness.ts';

/** @param entries as they stand under `vendors`, each an object in JSON */
export async function startWithVendors(
  entries: readonly object[],
  options: TestServiceOptions = {},
): Promise<DnsBench> {
  const room = await mkdtemp(join(tmpdir(), 'dns-vendors-'));
  const path = join(room, 'vendors.yaml');
  const lines = entries.map((entry) => `  - ${JSON.stringify(entry)}`);
  await writeFile(path, `version: 1\nvendors:\n${lines.join('\n')}\n`);
  const bench = await startDnsBench({ ...options, env: { ...options.env, VENDORS_FILE: path } });
  return {
    ...bench,
    async stop() {
      await bench.stop();
      await rm(room, { recursive: true, force: true });
    },
  };
}
