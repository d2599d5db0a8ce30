// The command line: one command per file. Exit code 0 done, 1 failed, 2 wrong usage, 78 wrong setting.
import { Command, CommanderError } from 'commander';
import release from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config.ts';
import { lineOf, UsageError } from './output.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

/** In the order of the help. Each is loaded when it is called: one imports little of what another needs. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  accounts: async () => (await import('./accounts.ts')).accountsCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  credit: async () => (await import('./credit.ts')).creditCommand(),
  topup: async () => (await import('./topup.ts')).topupCommand(),
  outbox: async () => (await import('./outbox.ts')).outboxCommand(),
  console: async () => (await import('./console.ts')).consoleCommand(),
  login: async () => (await import('./login.ts')).loginCommand(),
  vendors: async () => (await import('./vendors.ts')).vendorsCommand(),
  clock: async () => (await import('./clock.ts')).clockCommand(),
  gen: async () => (await import('./gen.ts')).genCommand(),
};

const VERSION = ['-V', '--version'];

/** @param name of the one command that is called; all of them when it is none, for the help. */
async function program(name = ''): Promise<Command> {
  const qm = new Command('qm').description(
    'Quartermaster: run the service and administer it. Settings come from the environment.',
  );
  qm.version(release.version);
  const one = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const others = VERSION.includes(name) ? [] : Object.values(commands);
  const loads = one === undefined ? others : [one];
  for (const command of await Promise.all(loads.map((load) => load()))) qm.addCommand(command);
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(qm)) command.exitOverride();
  return qm;
}

function exitCodeOf(error: unknown): number {
  // Commander has printed its line, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  process.stderr.write(`qm: ${lineOf(error)}\n`);
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof ConfigError ? EXIT_CONFIG : EXIT_FAILED;
}

try {
  await (await program(process.argv[2])).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
