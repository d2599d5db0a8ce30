// A fresh service for pictures, with a clock that can be moved, and what is done to it from outside: calls and commands, as anybody's.
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createPlace, PROJECT, startProcess } from '../../test/support/process.ts';

const run = promisify(execFile);

/** One call of a capability: its data. Throws what the service answered, unless the call `mayFail`. */
export type Call = (path: string, body: object, how?: How) => Promise<Record<string, unknown>>;

interface How {
  /** POST when absent. */
  readonly method?: 'PUT';
  readonly mayFail?: boolean;
}

export interface PicturedService {
  readonly url: string;
  /** A command of `qm`; what it answered. */
  qm(...args: readonly string[]): Promise<Record<string, unknown>>;
  as(secret: string): Call;
  stop(): Promise<void>;
}

export async function startPicturedService(): Promise<PicturedService> {
  // A directory that is empty: the one that tests begin with is made by their runner.
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'quartermaster-pictures-'));
  const place = await createPlace({ DATA_DIR, TEST_CLOCK: 'on', ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
  try {
    await startProcess(place);
  } catch (error) {
    await place.remove();
    throw error;
  }
  const { PATH = '', HOME = '' } = process.env;
  return {
    url: place.url,
    async qm(...args) {
      const { stdout } = await run(process.execPath, [join(PROJECT, 'src/cli/main.ts'), ...args, '--json'], {
        env: { PATH, HOME, ...place.env },
      });
      return JSON.parse(stdout);
    },
    as: (secret) => (path, body, how) => call(`${place.url}/v1/${path}`, secret, body, how),
    stop: () => place.remove(),
  };
}

async function call(
  url: string,
  secret: string,
  body: object,
  { method, mayFail = false }: How = {},
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: method ?? 'POST', headers, body: JSON.stringify(body) });
  const { ok, data, error } = (await response.json()) as { ok: boolean; data: Record<string, unknown>; error: unknown };
  if (!ok && !mayFail) throw new Error(`${url}: ${JSON.stringify(error)}`);
  return data;
}
