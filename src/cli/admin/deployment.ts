// The server secret of the deployment that owns a database. API keys are derived with it.
import { Secrets } from '../../core/secrets/secrets.ts';
import {
  loadServerSecret,
  readServerSecret,
  rememberedFingerprint,
  rememberServerSecret,
} from '../../core/secrets/server-secret.ts';
import { CommandError } from '../output.ts';
import type { Session } from './session.ts';

/** On a database that no service has started on yet, the secret is made here. Throws when there is none, or another one. */
export async function deploymentSecrets({ config, db }: Session): Promise<Secrets> {
  const isNew = (await rememberedFingerprint(db)) === null;
  const text = isNew ? await loadServerSecret(config) : await readServerSecret(config);
  if (text === null)
    throw new CommandError(
      'keys are made with the server secret: set SECRETS_KEY, or DATA_DIR to where secrets.key is',
    );
  const secrets = new Secrets(text);
  await rememberServerSecret(db, secrets);
  return secrets;
}
