// A process that owns an embedded PostgreSQL, for tests that kill it. Prints one JSON line once the server answers, or once
// it cannot start. SIGTERM stops it in order; SIGINT is ignored, as a service that is still finishing its work would.

import { startEmbedded } from '../../src/db/embedded/index.ts';
import { StartupError } from '../../src/db/errors.ts';

try {
  const postgres = await startEmbedded({ dataDir: process.argv[2] as string });
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', () => void postgres.stop().then(() => process.exit(0)));
  setInterval(() => undefined, 60_000);
  console.log(JSON.stringify({ postgresPid: postgres.pid }));
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  console.log(JSON.stringify({ startupError: error.message }));
}
