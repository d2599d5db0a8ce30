// Pages that are made to take time or memory, those that end at once.
import { afterAll, test } from 'vitest';
import { QUICK } from './hostile-pages.ts';
import { expectEnd, readers } from './hostile-reading.ts';

afterAll(() => readers.close());

test.each(Object.entries(QUICK))('%s', (_, html) => expectEnd(html));
