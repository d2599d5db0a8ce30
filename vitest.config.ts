import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Tests also wait: more of them than cores.
const WORKERS = Math.ceil(1.5 * availableParallelism());

const WITH_DATABASE = {
  globalSetup: ['./test/support/postgres.ts'],
  setupFiles: ['./test/support/accounts-named.ts'],
  pool: 'forks' as const,
  isolate: false,
  // Processes that tests start need not read all of the source anew.
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compile') },
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What is waited for comes when the machine gets to it; the default is a second.
  expect: { poll: { timeout: 50_000 } },
};

// These look at the plans and the catalogue of one PostgreSQL. On a distributed engine test/database/one-task.test.ts looks at the plans,
// and test/vector/pgvector-refused.test.ts shows that there is no index of pgvector, which others would pull.
const OF_ONE_POSTGRES = ['**/*plans.test.ts', 'test/database/schema.test.ts', 'test/vector/pgvector-pull.test.ts'];

export default defineConfig({
  test: {
    // The file is for `npm run test:again`.
    reporters: ['default', ['json', { outputFile: join(import.meta.dirname, 'node_modules/.cache/tests.json') }]],
    projects: [
      {
        // No database, no shared state.
        test: {
          name: 'unit',
          include: ['{src,scripts,bench}/**/*.test.ts'],
          pool: 'threads',
          // One module graph for all files of a worker: isolated ones took 20 x as long.
          isolate: false,
          maxWorkers: WORKERS,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...WITH_DATABASE,
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...['**/node_modules/**', '**/*.alone.test.ts'],
            ...(process.env.DISTRIBUTED === '1' ? OF_ONE_POSTGRES : []),
            ...(process.env.LONG === 'off' ? ['**/*.long.test.ts'] : []),
          ],
          maxWorkers: WORKERS,
        },
      },
      {
        // They measure processor time, or a browser that waits: one after the other, when no other test runs.
        test: {
          ...WITH_DATABASE,
          name: 'alone',
          include: process.env.LONG === 'off' ? [] : ['test/**/*.alone.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
