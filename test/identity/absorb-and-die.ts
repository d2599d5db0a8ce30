// A process that ends between the two steps of absorbing: `node absorb-and-die.ts <database url> <from> <into>`.

import { Database } from '../../src/db/database.ts';
import { leave } from '../../src/people/absorbing/absorb.ts';

const [url = '', from = '', into = ''] = process.argv.slice(2);
const db = new Database({
  connection: { connectionString: url },
  hotConnections: 1,
  connections: 1,
  onIdleError: () => undefined,
});
await db.transaction((tx) => leave(tx, { from, into }, async () => true));
process.kill(process.pid, 'SIGKILL');
