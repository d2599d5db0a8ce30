import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        // No database, no shared state: one module graph for all files makes them 20 x faster than isolated ones.
        test: {
          name: 'unit',
          include: ['{src,scripts}/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          sequence: { groupOrder: 0 },
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/postgres.ts'],
          pool: 'forks',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
