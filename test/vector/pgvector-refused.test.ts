// On a distributed engine vectors stay in the embedded engine: the index of pgvector joins tables by more than the account.
import { expect, inject, test } from 'vitest';
import { startTestService } from '../support/service.ts';

test.runIf(inject('cluster') !== null)('a cluster refuses VECTOR_ENGINE=pgvector, and says what to use', async () => {
  await expect(startTestService({ env: { VECTOR_ENGINE: 'pgvector' } })).rejects.toThrow(
    'VECTOR_ENGINE: pgvector is for one PostgreSQL; on a distributed engine use embedded',
  );
});
