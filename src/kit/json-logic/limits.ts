// Bounds of rules of JsonLogic and of what they are evaluated for.

const KIB = 1024;

/** What a context may be: cost.ts reckons with it. */
export const CONTEXT = { bytesMax: 16 * KIB, textCharactersMax: 1_024, nodesMax: 1_000, depthMax: 8 } as const;
/** What a rule may be. Its steps are reckoned for the worst context when it is written; one takes some 50 ns. */
export const RULE = { nodesMax: 5_000, depthMax: 24, stepsMax: 100_000 } as const;
