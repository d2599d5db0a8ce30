// Runs a task that makes one PDF, and builds the call's answer.

import { answerResult, type ResultWish, requireResultPlace } from '../../../files/result.ts';
import type { CallContext } from '../../../kit/services.ts';
import type { EngineWish } from '../engine/wire.ts';
import type { PdfState } from '../state.ts';
import type { Worked } from './paid.ts';

export const PDF = 'application/pdf';

/** `taskOf` reads what the task works on. Throws what it and the engine throw, and what `answerResult` does. */
export async function answerPdf(
  ctx: CallContext,
  { engines }: PdfState,
  { inline, store }: ResultWish,
  filename: string,
  taskOf: () => Promise<EngineWish>,
): Promise<Worked> {
  await requireResultPlace(ctx, { store });
  const { files, engine, warnings } = await engines.run(ctx, await taskOf(), 'made');
  const [made] = files;
  if (made === undefined) throw new Error('a PDF was made, and is not there');
  ctx.holdMade(made.bytes.length);
  ctx.warnings.push(...warnings);
  const result = await answerResult(ctx, made.bytes, { contentType: PDF, filename, inline, store });
  const { pages } = made;
  return { pages, data: { pages, ...(engine === null ? {} : { engine }), ...result } };
}
