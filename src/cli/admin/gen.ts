import { Command } from 'commander';
import { newServerSecret } from '../../core/secrets/server-secret.ts';
import { print } from '../output.ts';

export function genCommand(): Command {
  return new Command('gen')
    .description('Print a fresh server secret for SECRETS_KEY. Nothing is stored.')
    .option('--json', 'print one JSON object')
    .action(({ json = false }: { json?: boolean }) => {
      const secret = newServerSecret();
      print({ json: { secrets_key: secret }, text: secret }, json);
    });
}
