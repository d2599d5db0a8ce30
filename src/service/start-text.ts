// Text for a person at the terminal: slow steps of the start, then the address. It never contains the secret of a key.
import { join, relative } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Logger } from '../core/process/logger.ts';
import type { StorageStep } from '../db/storage.ts';
import { commandLine } from '../lib/command-line.ts';

/** A step that takes less is not worth a line, except at a first start. */
const SLOW_MS = 1_000;

/** Tells the steps of a first start as they begin, and those of a later one that take long. */
export class StartProgress {
  readonly #texts: Readonly<Record<StorageStep, string>>;
  readonly #write: (text: string) => void;
  #isFirst = false;
  #late: NodeJS.Timeout | undefined;

  constructor({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>, write: (text: string) => void) {
    this.#write = write;
    this.#texts = {
      create: `Creating a PostgreSQL database in ${nearName(join(dataDir, 'postgres'))} (first start only)`,
      start: 'Starting PostgreSQL',
      migrate:
        databaseUrl === undefined ? 'Updating the database schema' : 'Connecting to the database of DATABASE_URL',
    };
  }

  step(step: StorageStep): void {
    this.end();
    this.#isFirst ||= step === 'create';
    const tell = () => this.#write(`${this.#texts[step]} ...\n`);
    if (this.#isFirst) tell();
    else this.#late = setTimeout(tell, SLOW_MS).unref();
  }

  end(): void {
    clearTimeout(this.#late);
  }
}

export interface Started {
  readonly baseUrl: string;
  /** What the first start made. */
  readonly operator: { readonly accountId: string } | null;
}

/** @param signInLink null: nobody is signed in by a link here, `qm console` prints one. */
export function greeting({ baseUrl, operator }: Started, signInLink: string | null, { dataDir }: Config): string {
  const keyFile = nearName(join(dataDir, 'operator.key'));
  const key = `-H "Authorization: Bearer $(cat ${shellWord(keyFile)})" -H 'Content-Type: application/json'`;
  const lines = [
    '',
    `Quartermaster answers at ${baseUrl}`,
    '',
    `  Console        ${signInLink ?? `${baseUrl}/console`}`,
    signInLink === null
      ? `                 ${commandLine('console')}   prints a link that signs you in`
      : '                 (signs you in once, within 10 minutes)',
    `  Documentation  ${baseUrl}/docs`,
    `  API key        ${keyFile}`,
    '',
  ];
  if (operator !== null)
    lines.push(
      `Created the operator's account ${operator.accountId} with 2 USD of credit; its key is in ${keyFile} (mode 0600).`,
      '',
    );
  lines.push(
    'Make your first call:',
    `  curl -sS ${baseUrl}/v1/queue/create ${key} -d '{"name":"jobs"}'`,
    `  curl -sS ${baseUrl}/v1/queue/publish ${key} -d '{"queue":"jobs","payload":{"hello":"world"}}'`,
    '',
    '',
  );
  return lines.join('\n');
}

/** Variables that look like a setting and are none, and those by their earlier names, in one line of the log. */
export function warnOfVariables(config: Config, log: Logger): void {
  const misspelt = config.settings((variables) => variables.findMisspelt());
  const renamed = config.settings((variables) => variables.findRenamed());
  const found = [...renamed, ...misspelt];
  if (found.length === 0) return;
  const words = [
    ...renamed.map(({ name, now, isUsed }) =>
      isUsed
        ? `${name} is called ${now} now: rename it.`
        : `${name} is called ${now} now, which is set too: ${name} is not used.`,
    ),
    ...misspelt.map(({ name, meant }) => `${name} is not a setting: did you mean ${meant}?`),
  ];
  log.warn({ variables: found.map(({ name }) => name) }, words.join(' '));
}

/** Relative to where the user is, unless that leads out of it. */
function nearName(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
