import { Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { migrate } from '../../db/migrate.ts';
import { print } from '../output.ts';
import { withDatabase } from './session.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring the schema of the database to this release. The service does the same at its start.')
    .option('--json', 'print one JSON object')
    .action(async ({ json = false }: { json?: boolean }) => {
      const result = await withDatabase(loadConfig(readEnv()), ({ connection }) => migrate(connection));
      const { applied, version } = result;
      const done = applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
      print({ json: { version, applied }, text: `schema version ${version}: ${done}` }, json);
    });
}
