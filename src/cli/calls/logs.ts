// `qm logs tail`: prints log records as they are stored, from any program of the account.
import { Command, Option } from 'commander';
import { followStream } from '../client/follow-stream.ts';
import { access } from '../client/profile.ts';
import { printable } from '../output.ts';
import { oneLine } from './data-text.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

export function logsCommand(): Command {
  const logs = new Command('logs').description('Follow the log records of the account.');
  logs
    .command('tail')
    .description(
      'Print log records as they are stored. Records that come while the connection is lost are not printed. ' +
        '`qm call logs.search` finds them.',
    )
    .addOption(new Option('--level <level>', 'only this level and above').choices(LEVELS))
    .option('--service <name>', 'only records of this service')
    .option('--q <words>', 'only records whose message has all these words')
    .option('--trace-id <id>', 'only records of this trace')
    .option('--filter <name=value...>', 'only records with this attribute')
    .option('--json', 'print each record as JSON on one line')
    .action(tail);
  return logs;
}

interface TailOptions {
  readonly level?: string;
  readonly service?: string;
  readonly q?: string;
  readonly traceId?: string;
  readonly filter?: readonly string[];
  readonly json?: boolean;
}

interface LogRecord {
  readonly timestamp: string;
  readonly level: string;
  readonly service: string | null;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

async function tail({ json = false, traceId, filter = [], ...filters }: TailOptions): Promise<void> {
  const to = await access();
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, trace_id: traceId }))
    if (value !== undefined) query.append(name, value);
  for (const pair of filter) {
    const at = pair.indexOf('=');
    query.append(`filter.${at < 0 ? pair : pair.slice(0, at)}`, at < 0 ? '' : pair.slice(at + 1));
  }
  await followStream(to, `/v1/logs/tail?${query}`, (data) => {
    process.stdout.write(`${json ? oneLine(data) : lineOf(JSON.parse(data))}\n`);
  });
}

function lineOf({ timestamp, level, service, message, attributes }: LogRecord): string {
  const known = Object.entries(attributes ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const parts = [timestamp, level.toUpperCase().padEnd(5), service ?? '-', message, ...known];
  return printable(parts.join('  '));
}
