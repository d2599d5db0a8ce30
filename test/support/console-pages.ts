// The pages that modules bring to the console.
import type { ConsolePage } from '../../src/kit/console/page.ts';
import { modules } from '../../src/modules/index.ts';

const consoles = await Promise.all(modules.map(async (module) => module.console?.()));

export const pages: readonly ConsolePage[] = consoles.flatMap((each) => each?.pages ?? []);
