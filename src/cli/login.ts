// `qm login` is a device like any other: it asks a service for a key, a person approves it in a browser, and the key goes into a file that
// only its owner can read.
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { scopeList } from './fields.ts';
import { CommandError, print, UsageError } from './output.ts';

const KEY_FILE = join(homedir(), '.config', 'quartermaster', 'key');
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export function loginCommand(): Command {
  return new Command('login')
    .description(
      'Get an API key for this machine: a person approves it in a browser. It is written to a file, not printed.',
    )
    .option('--url <url>', 'of the service (default: that of the settings)')
    .option('--name <name>', 'how the person is told who asks', `qm on ${hostname()}`)
    .option('--scopes <list>', 'what the key shall do, separated by commas (default: all but managing keys)', scopeList)
    .option('--file <path>', 'where the key goes, readable by its owner only', KEY_FILE)
    .option('--json', 'print one JSON object')
    .action(login);
}

interface LoginOptions {
  readonly url?: string;
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly file: string;
  readonly json?: boolean;
}

async function login({ url, name, scopes = [], file, json = false }: LoginOptions): Promise<void> {
  // Long, and needed by this command only.
  const oauth = await import('openid-client');
  const service = serviceUrl(url ?? loadConfig(readEnv()).baseUrl);
  const execute = service.protocol === 'http:' ? [oauth.allowInsecureRequests] : [];
  try {
    const found = await oauth.discovery(service, name, undefined, oauth.None(), { algorithm: 'oauth2', execute });
    const scope = scopes.join(' ');
    const started = await oauth.initiateDeviceAuthorization(found, scope === '' ? {} : { scope });
    process.stderr.write(
      `Open ${started.verification_uri_complete ?? started.verification_uri}\nand confirm the code ${started.user_code}\n`,
    );
    const {
      access_token,
      key_id,
      account_id,
      scope: granted,
    } = await oauth.pollDeviceAuthorizationGrant(found, started);
    await writeSecret(file, access_token);
    const answer = { key_id, account_id, scopes: granted?.split(' ') ?? [], file };
    print({ json: answer, text: `${key_id} of ${account_id} is in ${file}` }, json);
  } catch (error) {
    throw new CommandError(`no key: ${reasonOf(error)}`, { cause: error });
  }
}

/** A key is sent over https only, or stays on this machine. */
function serviceUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`--url ${text} is no URL of a service`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new UsageError('--url must be https, or lead to this machine');
  return url;
}

/** In place of a file that is there, whole or not at all. */
async function writeSecret(file: string, secret: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(`${secret}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const { error_description: described, cause } = error as { error_description?: string; cause?: unknown };
  if (typeof described === 'string') return described;
  const inner = cause instanceof Error ? `: ${cause.message}` : '';
  return `${error instanceof Error ? error.message : String(error)}${inner}`;
}
