// A process that runs the sweeps of blocks without pause, on the database at argv[2] with its assets in argv[3]. It says when it has begun.
import { openStore } from './harness.ts';

const { store } = openStore({ connectionString: process.argv[2] as string }, process.argv[3] as string);
process.stdout.write('sweeping\n');
const signal = new AbortController().signal;
await Promise.all(
  store
    .sweeps()
    .filter(({ name }) => !name.endsWith('orphans'))
    .map(async (sweep) => {
      for (;;) {
        // Another one that takes the place of the same blocks fails this run, as a lost lease would.
        await sweep.run(signal).catch((error: Error) => process.stderr.write(`${error.stack}\n`));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }),
);
