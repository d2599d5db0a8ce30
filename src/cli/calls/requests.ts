// `qm requests`: the request log. `tail` prints calls as they end; `get` prints one call with everything that was recorded of it.
import { Command, Option } from 'commander';
import { followStream } from '../client/follow-stream.ts';
import { readPath } from '../client/http.ts';
import { access } from '../client/profile.ts';
import { printable } from '../output.ts';
import { dataText, oneLine } from './data-text.ts';

export function requestsCommand(): Command {
  const requests = new Command('requests').description('Read the request log of the account.');
  requests
    .command('tail')
    .description(
      'Print calls as they end: failed ones, or with --outcome those of 1 s and longer, or all that are recorded. ' +
        'Calls that end while the connection is lost are not printed. account.requests.list has them.',
    )
    .addOption(new Option('--outcome <outcome>', 'which calls (default: failed)').choices(['failed', 'slow', 'all']))
    .option('--status <status>', 'only this HTTP status')
    .option('--code <code>', 'only this error code')
    .option('--capability <id>', 'only this capability')
    .option('--key-id <id>', 'only calls of this key')
    .option('--json', 'print each call as JSON on one line')
    .action(tail);
  requests
    .command('get')
    .description('Print one call of the log.')
    .argument('<id>', 'request id, `req_…`')
    .option('--json', 'print JSON on one line')
    .action(get);
  return requests;
}

interface TailOptions {
  readonly outcome?: string;
  readonly status?: string;
  readonly code?: string;
  readonly capability?: string;
  readonly keyId?: string;
  readonly json?: boolean;
}

interface LoggedRequest {
  readonly request_id: string;
  readonly at: string;
  readonly capability: string;
  readonly key_id: string | null;
  readonly person_id: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly message: string | null;
  readonly latency_ms: number;
}

async function tail({ json = false, keyId, ...filters }: TailOptions): Promise<void> {
  const to = await access();
  const wanted = Object.entries({ ...filters, key_id: keyId }).filter(([, value]) => value !== undefined);
  const path = `/v1/account/requests/tail?${new URLSearchParams(Object.fromEntries(wanted) as Record<string, string>)}`;
  await followStream(to, path, (data) => {
    process.stdout.write(`${json ? oneLine(data) : lineOf(JSON.parse(data))}\n`);
  });
}

function lineOf({
  at,
  status,
  code,
  capability,
  key_id,
  person_id,
  latency_ms,
  request_id,
  message,
}: LoggedRequest): string {
  const outcome = code === null ? String(status) : `${status} ${code}`;
  const line = `${at}  ${outcome}  ${capability}  ${key_id ?? person_id}  ${latency_ms} ms  ${request_id}`;
  return printable(message === null ? line : `${line}  ${message}`);
}

async function get(id: string, { json = false }: { json?: boolean }): Promise<void> {
  const { data } = await readPath(await access(), `/v1/account/requests/get/${encodeURIComponent(id)}`);
  process.stdout.write(`${dataText(data, { json })}\n`);
}
