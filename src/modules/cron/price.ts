import type { BookPrice } from '../../manifest/capability.ts';

/** What a run costs; also what it is booked as. */
export const runPrice: BookPrice = { book: 'cron.run', unit: 'run' };
