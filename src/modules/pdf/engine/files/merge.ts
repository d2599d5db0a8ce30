// Merges PDFs in their order.
import { PDFDocument } from '@cantoo/pdf-lib';
import { tooManyPages } from '../refused.ts';
import type { EngineAnswer, EngineTask } from '../wire.ts';
import { openPdf, pageCountOf } from './open.ts';
import { copyPages, savePdf } from './save.ts';

export async function merge({ sources, pagesMax }: Extract<EngineTask, { kind: 'merge' }>): Promise<EngineAnswer> {
  const merged = await PDFDocument.create({ updateMetadata: false });
  let pages = 0;
  let forms = false;
  for (const [index, bytes] of sources.entries()) {
    const source = await openPdf(bytes, 'sources', index);
    pages += pageCountOf(source, 'sources', index);
    if (pages > pagesMax) throw tooManyPages('sources', pagesMax);
    forms ||= source.catalog.getAcroForm() !== undefined;
    await copyPages(source, source.getPageIndices(), merged);
  }
  const warnings = forms ? ['Form fields of the sources are shown, and can no longer be filled.'] : [];
  return { kind: 'made', files: [{ bytes: await savePdf(merged), pages }], engine: null, warnings };
}
