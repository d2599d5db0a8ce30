// How long the tests in `*.soak.test.ts` go on: two rounds in `npm run test:long`, all of them in `npm run test:soak`; and what they take at random.

/** Whether this run is a whole soak. */
export const isSoak = process.env.SOAK === 'on';

/** Rounds to play of `whole`, which are those of a soak. */
export function rounds(whole: number): number {
  return isSoak ? whole : Math.min(2, whole);
}

/** Another each time; it is told in the names of tests, and given again by SEED. */
export const seed = Number(process.env.SEED ?? 1 + (Date.now() % 2_147_483_646));

/** Numbers below what is asked for, the same ones for a seed. */
export function randomOf(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
