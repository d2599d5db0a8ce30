// Tests of one module: its own, and the loops of the contract over its operations alone. `npm run test:module -- cron`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './remembered.ts';

/** Those that go through operations one by one. */
const LOOPS = ['bad-input', 'changes', 'examples', 'idempotency', 'rights', 'times'];

const name = process.argv[2] ?? '';
if (!existsSync(join(ROOT, 'src/modules', name, 'index.ts')) || name === '') {
  console.error('npm run test:module -- NAME: name a folder of src/modules');
  process.exit(1);
}
const loops = LOOPS.map((loop) => `test/contract/${loop}.test.ts`);
const words = ['vitest', 'run', `test/${name}/`, `src/modules/${name}/`, ...loops];
const { status } = spawnSync('npx', words, {
  cwd: ROOT,
  env: { ...process.env, MODULE: name, LONG: 'off' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
