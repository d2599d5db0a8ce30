// Pages that are made to take time or memory, those that take seconds of it.
import { afterAll, test } from 'vitest';
import { SLOW } from './hostile-pages.ts';
import { expectEnd, readers } from './hostile-reading.ts';

afterAll(() => readers.close());

test.each(Object.entries(SLOW))('%s', (_, html) => expectEnd(html));
