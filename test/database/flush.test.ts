// Corked statements travel at the end of the tick or with a flush. A flush without a cork holds nothing back.
import { beforeAll, expect, test } from 'vitest';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const one = { name: 'test_one', text: 'SELECT 1 AS one' };

test.each([true, false])('statements around a flush are answered; corked before: %s', async (isCorked) => {
  const rows = await service.core.db.transaction(async (tx) => {
    await tx.query(one, []);
    if (isCorked) tx.cork();
    const before = tx.query(one, []);
    tx.flush();
    const after = tx.query(one, []);
    return [(await before).rows, (await after).rows, (await tx.query(one, [])).rows];
  });
  expect(rows).toEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]]);
});
