// `qm login`: the device flow. The command asks a service for a key and a person approves it in a browser. The key is saved to the profile
// that other commands use, or to a file that only its owner can read.
import { hostname } from 'node:os';
import { Command } from 'commander';
import { writeWhole } from '../client/files.ts';
import { address, saveProfile, serviceUrl } from '../client/profile.ts';
import { scopeList } from '../fields.ts';
import { CommandError, print, printable, SettingError, UsageError } from '../output.ts';

export function loginCommand(): Command {
  return new Command('login')
    .description(
      'Get an API key for this machine: a person approves it in a browser. Address and key are kept in a profile that the other commands use. The key is not printed.',
    )
    .option('--url <url>', 'address of the service (default: QM_URL, that of the profile, or http://127.0.0.1:8787)')
    .option('--name <name>', 'how the person is told who asks', `qm on ${hostname()}`)
    .option('--scopes <list>', 'what the key shall do, separated by commas (default: all but managing keys)', scopeList)
    .option('--file <path>', 'write the key alone to this file instead, for another program')
    .option('--json', 'print one JSON object')
    .action(login);
}

interface LoginOptions {
  readonly url?: string;
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly file?: string;
  readonly json?: boolean;
}

async function login({ url, name, scopes = [], file, json = false }: LoginOptions): Promise<void> {
  // Long, and needed by this command only.
  const oauth = await import('openid-client');
  const service = new URL(url === undefined ? await address() : namedUrl(url));
  const execute = service.protocol === 'http:' ? [oauth.allowInsecureRequests] : [];
  try {
    const found = await oauth.discovery(service, name, undefined, oauth.None(), { algorithm: 'oauth2', execute });
    const scope = scopes.join(' ');
    const started = await oauth.initiateDeviceAuthorization(found, scope === '' ? {} : { scope });
    const page = printable(started.verification_uri_complete ?? started.verification_uri);
    process.stderr.write(`Open ${page}\nand confirm the code ${printable(started.user_code)}\n`);
    const {
      access_token,
      key_id,
      account_id,
      scope: granted,
    } = await oauth.pollDeviceAuthorizationGrant(found, started);
    const path = await keep({ url: serviceUrl(service.href, '--url'), key: access_token }, file);
    const answer = { key_id, account_id, scopes: granted?.split(' ') ?? [], file: path };
    print({ json: answer, text: `${key_id} of ${account_id} is in ${path}` }, json);
  } catch (error) {
    throw new CommandError(`no key: ${reasonOf(error)}`, { cause: error });
  }
}

async function keep(profile: { readonly url: string; readonly key: string }, file?: string): Promise<string> {
  if (file === undefined) return saveProfile(profile);
  await writeWhole(file, `${profile.key}\n`);
  return file;
}

function namedUrl(text: string): string {
  try {
    return serviceUrl(text, '--url');
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const { error_description: described, cause } = error as { error_description?: string; cause?: unknown };
  if (typeof described === 'string') return described;
  const inner = cause instanceof Error ? `: ${cause.message}` : '';
  return `${error instanceof Error ? error.message : String(error)}${inner}`;
}
