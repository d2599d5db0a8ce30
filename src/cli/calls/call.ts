// `qm call` calls any capability that discovery describes, and follows its streams. It reports wrong values before it sends anything; names of fields
// are the service's to judge, which knows earlier ones too.
import { Command } from 'commander';
import { nearest } from '../../lib/nearest.ts';
import { type Discovery, discoveryForUnknown, discoveryOf, type OfferedCapability } from '../client/discovery.ts';
import { begin, readEnvelope, Unanswered } from '../client/http.ts';
import { type Access, access, address } from '../client/profile.ts';
import { CommandError, printable, UsageError } from '../output.ts';
import { dataText, type Look } from './data-text.ts';
import { buildCall, type Input, readInput } from './input.ts';

interface CallOptions extends Look {
  readonly help?: boolean;
  readonly idempotencyKey?: string;
}

const EXAMPLES = `
Input:
  field=value       a string, or what the schema says: limit=10 is a number
  field:=json       JSON: payload:='{"a":1}'
  a.b=1             field b of object a
  field=@file       the content of a file; with := as JSON
  @file, -          the whole input as a JSON object, from a file or standard input
  A list is given by its field once for each element. A value that begins with @ is written \\@.

Examples:
  qm call                                                  lists capabilities
  qm call queue.publish --help                             its fields
  qm call queue.publish queue=jobs payload:='{"a":1}'
  qm call queue.list --table
  qm call logs.tail level=error                            follows a stream, a line for each event
  jq -n '{queue:"jobs"}' | qm call queue.consume - wait_seconds=20 --json

Exit code: 0 done, 1 the call failed, 2 wrong input (nothing was sent), 78 no key.`;

export function callCommand(): Command {
  return new Command('call')
    .description('Call a capability of the service. Without one, list all.')
    .argument('[capability]', 'such as queue.publish')
    .argument('[input...]', 'fields of the input')
    .option('--json', 'print the data of the answer as JSON on one line')
    .option('--table', 'print a list as a table')
    .option('--idempotency-key <key>', 'a second call with the same key has no second effect')
    .helpOption(false)
    .option('-h, --help', 'show the fields of the capability, or this help')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run(id: string | undefined, words: string[], options: CallOptions, command: Command): Promise<void> {
  if (id === undefined) {
    if (options.help === true) command.help();
    return list(options);
  }
  if (options.help === true) {
    const { describe } = await import('./describe.ts');
    const url = await address();
    process.stdout.write(`${describe(id, (await find(url, id)).capability)}\n`);
    return;
  }
  const to = await access();
  const { capability } = await find(to.url, id);
  await call(to, { id, capability, input: await readInput(words, capability.schema) }, options);
}

async function list({ json = false }: CallOptions): Promise<void> {
  const { capabilities } = await discoveryOf(await address());
  const { capabilityList: listed } = await import('./describe.ts');
  process.stdout.write(`${listed(capabilities, json)}\n`);
}

interface Found {
  readonly capability: OfferedCapability;
  readonly discovery: Discovery;
}

/** Throws UsageError with the names that are near. */
async function find(url: string, id: string): Promise<Found> {
  for (const lookUp of [discoveryOf, discoveryForUnknown]) {
    const discovery = await lookUp(url);
    const capability = Object.hasOwn(discovery.capabilities, id) ? discovery.capabilities[id] : undefined;
    if (capability !== undefined) return { capability, discovery };
  }
  const { capabilities } = await discoveryOf(url);
  const hint = suggestion(id, Object.keys(capabilities)) ?? '`qm call` lists all.';
  throw new UsageError(`there is no capability ${JSON.stringify(id.slice(0, 128))}. ${hint}`);
}

function suggestion(name: string, known: readonly string[]): string | null {
  const near = nearest(name, known, 3);
  return near.length === 0 ? null : `Did you mean ${near.join(', ')}?`;
}

interface Prepared {
  readonly id: string;
  readonly capability: OfferedCapability;
  readonly input: Input;
}

async function call(to: Access, { id, capability, input }: Prepared, options: CallOptions): Promise<void> {
  const { idempotencyKey: key } = options;
  if (key !== undefined && !capability.idempotent) throw new UsageError(`${id} takes no idempotency key`);
  const { path, body } = buildCall(capability, input);
  if (capability.stream === true) {
    const { followStream } = await import('../client/follow-stream.ts');
    return followStream(to, path, (data) => process.stdout.write(`${printable(data)}\n`));
  }
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  try {
    const answer = await begin(to, path, { method: capability.method, body, headers });
    if (answer.headers['content-type']?.startsWith('text/event-stream') === true) {
      const { printStream } = await import('./stream.ts');
      return await printStream(answer);
    }
    const { data, warnings } = await readEnvelope(to.url, answer);
    for (const warning of warnings) process.stderr.write(`warning: ${printable(warning)}\n`);
    process.stdout.write(`${dataText(data, options)}\n`);
  } catch (error) {
    if (!(error instanceof Unanswered) || !error.connected || capability.method === 'GET') throw error;
    const again = key === undefined ? 'with --idempotency-key a repeat is safe' : 'repeat it with the same key';
    throw new CommandError(`${error.message}. The call may have happened: ${again}`, { cause: error });
  }
}
