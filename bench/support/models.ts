// A service with one vendor of language models, whose double is a process of its own and streams what the request says (chat-vendor.ts).
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchService, startBenchService } from './service.ts';

export const CHAT_PATH = '/v1/chat/completions';

export interface ModelsService {
  readonly service: BenchService;
  /** Of the double, and where it listens. */
  readonly vendor: ChildProcess;
  readonly vendorPort: number;
  stop(): Promise<void>;
}

/** `settings`: further environment of the service. */
export async function startModelsService(
  accounts: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<ModelsService> {
  const vendor = fork(new URL('./chat-vendor.ts', import.meta.url).pathname);
  const [vendorPort] = (await once(vendor, 'message')) as [number];
  const folder = mkdtempSync(join(tmpdir(), 'qm-bench-vendors-'));
  const model = { id: 'm-1', serves: ['ai.chat'], price: { input: 1, output: 2 }, context: 100_000, max_output: 1_000 };
  const entry = { id: 'double', adapter: 'openai', base_url: `http://127.0.0.1:${vendorPort}/v1`, region: 'western' };
  const file = join(folder, 'vendors.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, vendors: [{ ...entry, models: [model] }] }));
  const service = await startBenchService(accounts, 'off', 1, { VENDORS_FILE: file, ...settings });
  return {
    service,
    vendor,
    vendorPort,
    async stop() {
      await service.stop();
      vendor.disconnect();
      rmSync(folder, { recursive: true });
    },
  };
}
