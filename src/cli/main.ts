// The command line: one command per file. Exit code 0 done, 1 failed, 2 wrong usage, 78 wrong setting.
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { accountsCommand } from './accounts.ts';
import { clockCommand } from './clock.ts';
import { consoleCommand } from './console.ts';
import { creditCommand } from './credit.ts';
import { doctorCommand } from './doctor.ts';
import { genCommand } from './gen.ts';
import { keysCommand } from './keys.ts';
import { loginCommand } from './login.ts';
import { migrateCommand } from './migrate.ts';
import { outboxCommand } from './outbox.ts';
import { lineOf, UsageError } from './output.ts';
import { serveCommand } from './serve.ts';
import { topupCommand } from './topup.ts';
import { vendorsCommand } from './vendors.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

const commands = [
  serveCommand(),
  migrateCommand(),
  doctorCommand(),
  accountsCommand(),
  keysCommand(),
  creditCommand(),
  topupCommand(),
  outboxCommand(),
  consoleCommand(),
  loginCommand(),
  vendorsCommand(),
  clockCommand(),
  genCommand(),
];

function program(): Command {
  const qm = new Command('qm').description(
    'Quartermaster: run the service and administer it. Settings come from the environment.',
  );
  for (const command of commands) qm.addCommand(command);
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
  await program().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
