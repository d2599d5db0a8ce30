// A process that takes chores of the database at argv[2] and never ends them; it says which it has taken.
import { Database } from '../../src/db/database.ts';
import { choreLoop } from './chores.ts';

const db = new Database({ connection: { connectionString: process.argv[2] as string } });
choreLoop(db, 'killed', async ({ id }) => {
  process.stdout.write(`${id}\n`);
  await new Promise(() => undefined);
}).start();
