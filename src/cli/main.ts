// Entry point of the command line: one command per file. Exit codes: 0 success, 1 failure, 2 wrong usage, 78 wrong setting.
import { Command, CommanderError } from 'commander';
import release from '../../package.json' with { type: 'json' };
import { adminCommands, type CommandEntry, callingCommands } from './commands.ts';
import { lineOf, table, UsageError } from './output.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

const CALLING = 'Call a service (QM_URL and QM_KEY, or the profile of `qm login`):';
const ADMIN_SUMMARY = 'administer a service, beside its database';
const ADMIN =
  'They work on the database of DATABASE_URL, or of DATA_DIR (./data), also while no service runs; they make none.';

/** Loads the one command that is called; of the others the help needs only name and summary. */
async function program([first = '', second = '']: readonly string[]): Promise<Command> {
  const known = [...Object.keys(callingCommands), 'admin', ...Object.keys(adminCommands), 'complete'];
  if (/^\w/.test(first) && !known.includes(first)) throw await unknownCommand(first, known);
  const qm = new Command('qm').usage('COMMAND [options]').helpCommand(false).version(release.version);
  // What follows the program of `qm run` are its own options.
  qm.enablePositionalOptions();
  qm.description('Quartermaster: call a service, or run and administer one.').commandsGroup(CALLING);
  await addCommands(qm, callingCommands, first);
  const admin = new Command('admin').summary(ADMIN_SUMMARY).usage('COMMAND [options]').helpCommand(false);
  admin.description(`Administer a service. ${ADMIN}`);
  await addCommands(admin, adminCommands, first === 'admin' ? second : '');
  qm.addCommand(admin.helpGroup('Administer a service:'));
  if (Object.hasOwn(adminCommands, first))
    qm.addCommand(await (adminCommands[first] as CommandEntry).load(), { hidden: true });
  if (first === 'complete') {
    const { completeCommand } = await import('./calls/complete.ts');
    qm.addCommand(completeCommand(), { hidden: true });
  }
  const names = Object.entries(adminCommands).map(([name, { summary }]) => [`  admin ${name}`, summary]);
  qm.addHelpText('after', `\n${ADMIN}\n${table(names)}\n\n\`qm COMMAND --help\` tells more of each.`);
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(qm)) command.exitOverride();
  return qm;
}

/** Also of the old names, which the help hides, and of a capability without `call`. */
async function unknownCommand(name: string, known: readonly string[]): Promise<UsageError> {
  const { nearest } = await import('../lib/nearest.ts');
  const [near] = name.includes('.') ? [`call ${name}`] : nearest(name, known, 1);
  const hint = near === undefined ? '`qm --help` lists all commands.' : `Did you mean \`qm ${near}\`?`;
  return new UsageError(`unknown command ${JSON.stringify(name.slice(0, 128))}. ${hint}`);
}

async function addCommands(to: Command, entries: Readonly<Record<string, CommandEntry>>, called: string) {
  for (const [name, { summary, load }] of Object.entries(entries))
    to.addCommand(name === called ? (await load()).summary(summary) : new Command(name).summary(summary));
}

async function exitCodeOf(error: unknown): Promise<number> {
  // Commander has printed its line, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const { name } = error as Error;
  process.stderr.write(name === 'CallFailed' ? `${await failureOf(error)}\n` : `qm: ${lineOf(error)}\n`);
  if (name === 'UsageError') return EXIT_USAGE;
  // By name: what defines the one of the service's settings is loaded with them only.
  return name === 'ConfigError' || name === 'SettingError' ? EXIT_CONFIG : EXIT_FAILED;
}

async function failureOf(error: unknown): Promise<string> {
  const { failureText } = await import('./client/failed.ts');
  return failureText(error as Parameters<typeof failureText>[0]);
}

// A reader that has enough, such as `head`, ends the command.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : EXIT_FAILED));

const given = process.argv.slice(2);
const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
try {
  await (await program(words)).parseAsync(words, { from: 'user' });
} catch (error) {
  process.exitCode = await exitCodeOf(error);
}
