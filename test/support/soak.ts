// How long the tests in `*.soak.test.ts` go on: two rounds in `npm test`, all of them in `npm run test:soak`.

/** Whether this run is a whole soak. */
export const isSoak = process.env.SOAK === 'on';

/** Rounds to play of `whole`, which are those of a soak. */
export function rounds(whole: number): number {
  return isSoak ? whole : Math.min(2, whole);
}
