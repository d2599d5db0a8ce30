// One failing row must not keep a sweep from the rows behind it: it would be found first again every time.
import { isConnectionError } from '../../../db/database.ts';

/**
 * Runs `mend` for one row after another. A row that fails is passed over, and the first error thrown at the end; a lost
 * connection ends the run at once, since it would fail every row. False when `signal` stopped it and nothing failed.
 */
export async function mendEach<Row>(
  rows: readonly Row[],
  signal: AbortSignal,
  mend: (row: Row) => Promise<void>,
): Promise<boolean> {
  let failed: { readonly error: unknown } | undefined;
  for (const row of rows) {
    if (signal.aborted) break;
    try {
      await mend(row);
    } catch (error) {
      failed ??= { error };
      if (isConnectionError(error)) break;
    }
  }
  if (failed !== undefined) throw failed.error;
  return !signal.aborted;
}
