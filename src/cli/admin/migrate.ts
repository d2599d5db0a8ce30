import { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { migrate } from '../../db/migrate.ts';
import { CommandError, print } from '../output.ts';
import { endOnSignal, requireCluster, withDatabase } from './session.ts';

interface Options {
  readonly json?: boolean;
  readonly upgradeDatabase?: boolean;
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring the schema of the database to this release. The service does the same at its start.')
    .option(
      '--upgrade-database',
      'first bring the embedded database to the major version of PostgreSQL that this release brings',
    )
    .option('--json', 'print one JSON object')
    .action(async ({ json = false, upgradeDatabase = false }: Options) => {
      const config = loadConfig(readEnv());
      const upgraded = upgradeDatabase ? await upgrade(config) : null;
      const { applied, version } = await withDatabase(config, ({ connection }) => migrate(connection));
      const done = applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
      const texts = [upgraded?.text, `schema version ${version}: ${done}`].filter((text) => text !== undefined);
      print({ json: { version, applied, ...upgraded?.json }, text: texts.join('\n') }, json);
    });
}

async function upgrade({ databaseUrl, dataDir }: Config) {
  if (databaseUrl !== undefined)
    throw new CommandError(
      '--upgrade-database is for the embedded database; upgrade that of DATABASE_URL by its own tools',
    );
  requireCluster(dataDir);
  endOnSignal();
  const { upgradeDatabase } = await import('../../db/embedded/upgrade/upgrade.ts');
  const upgraded = await upgradeDatabase(dataDir);
  if (upgraded === null) return { json: { upgraded: null }, text: 'PostgreSQL: nothing to upgrade' };
  const { from, to, kept, rows, tables } = upgraded;
  const text = `PostgreSQL ${from} -> ${to}: ${rows} rows of ${tables} tables copied. The old database is kept in ${kept}: remove it when all is well.`;
  return { json: { upgraded: { from, to, kept, rows, tables } }, text };
}
