// The commands, in the order of the help. Each is imported only when it is called: commands share few imports.
import type { Command } from 'commander';

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

type Commands = Readonly<Record<string, CommandEntry>>;

/** What calls a service by its address, with a key. */
export const callingCommands: Commands = {
  login: {
    summary: 'get an API key for this machine and keep it in a profile',
    load: async () => (await import('./calls/login.ts')).loginCommand(),
  },
  whoami: {
    summary: 'show account, key, scopes, tier and balance',
    load: async () => (await import('./calls/whoami.ts')).whoamiCommand(),
  },
  call: {
    summary: 'call a capability, or list all',
    load: async () => (await import('./calls/call.ts')).callCommand(),
  },
  run: {
    summary: 'run a command whose requests get the secrets of connections from the service',
    load: async () => (await import('./calls/run.ts')).runCommand(),
  },
  events: {
    summary: 'follow events, and forward them to a local webhook receiver',
    load: async () => (await import('./calls/events.ts')).eventsCommand(),
  },
  requests: {
    summary: 'follow the request log, or look a call up by its request id',
    load: async () => (await import('./calls/requests.ts')).requestsCommand(),
  },
  logs: {
    summary: 'follow the log records of the account',
    load: async () => (await import('./calls/logs.ts')).logsCommand(),
  },
  queue: {
    summary: 'follow the messages of a queue without taking them',
    load: async () => (await import('./calls/queue.ts')).queueCommand(),
  },
  open: {
    summary: 'open the console or the documentation in a browser',
    load: async () => (await import('./calls/open.ts')).openCommand(),
  },
  completion: {
    summary: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./calls/completion.ts')).completionCommand(),
  },
};

/** What works on the database or the data directory of the service. */
export const adminCommands: Commands = {
  serve: {
    summary: 'run the service in the foreground',
    load: async () => (await import('./admin/serve.ts')).serveCommand(),
  },
  migrate: {
    summary: 'bring the database schema to this release',
    load: async () => (await import('./admin/migrate.ts')).migrateCommand(),
  },
  doctor: {
    summary: 'prove that wallets, ledger, usage and counters agree',
    load: async () => (await import('./admin/doctor.ts')).doctorCommand(),
  },
  backup: {
    summary: 'create, verify and restore backups of database, files and keys',
    load: async () => (await import('./admin/backup.ts')).backupCommand(),
  },
  accounts: {
    summary: 'create, list, change and restore accounts',
    load: async () => (await import('./admin/accounts.ts')).accountsCommand(),
  },
  keys: {
    summary: 'create, list and revoke API keys of any account',
    load: async () => (await import('./admin/keys.ts')).keysCommand(),
  },
  credit: {
    summary: 'put credit into a wallet',
    load: async () => (await import('./admin/credit.ts')).creditCommand(),
  },
  topup: {
    summary: 'decide on top-ups under review, and refund top-ups',
    load: async () => (await import('./admin/topup.ts')).topupCommand(),
  },
  outbox: {
    summary: 'show mail that is not sent',
    load: async () => (await import('./admin/outbox.ts')).outboxCommand(),
  },
  console: {
    summary: 'print a link that signs a browser in as the operator',
    load: async () => (await import('./admin/console.ts')).consoleCommand(),
  },
  vendors: {
    summary: 'check and try outside vendors, show their costs',
    load: async () => (await import('./admin/vendors.ts')).vendorsCommand(),
  },
  clock: {
    summary: 'move the test clock',
    load: async () => (await import('./admin/clock.ts')).clockCommand(),
  },
  gen: {
    summary: 'print a fresh server secret',
    load: async () => (await import('./admin/gen.ts')).genCommand(),
  },
};
