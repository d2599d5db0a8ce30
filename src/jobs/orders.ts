// Test orders in double brackets in a prompt to the sandbox: `[[fail:CODE]]`, `[[slow:SECONDS]]` and `[[hang]]`. The renderer obeys them;
// waiting occupies no thread.

export interface SandboxOrders {
  /** The job fails with this code. */
  readonly fail: string | null;
  /** It takes so much longer. */
  readonly slowSeconds: number;
  /** It never ends by itself. */
  readonly hang: boolean;
}

const SLOW_SECONDS_MAX = 600;
const order = /\[\[(?:fail:([A-Z_]{1,40})|slow:(\d{1,5})|(hang))\]\]/g;

export function ordersIn(prompts: readonly string[]): SandboxOrders {
  const found = prompts.flatMap((prompt) => [...prompt.matchAll(order)]);
  return {
    fail: found.find(([, code]) => code !== undefined)?.[1] ?? null,
    slowSeconds: Math.min(SLOW_SECONDS_MAX, Math.max(0, ...found.map(([, , seconds]) => Number(seconds ?? 0)))),
    hang: found.some(([, , , hang]) => hang !== undefined),
  };
}

/** The prompt without them. */
export const withoutOrders = (prompt: string) => prompt.replace(order, ' ');
