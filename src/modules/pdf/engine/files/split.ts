// Splits a PDF into parts, each a PDF of its own.
import { PDFDocument } from '@cantoo/pdf-lib';
import { rangesOf } from '../../ranges.ts';
import { tooManyPages } from '../refused.ts';
import type { Cut, EngineAnswer, EngineTask, MadePdf } from '../wire.ts';
import { openPdf, pageCountOf } from './open.ts';
import { copyPages, requireRoom, savePdf } from './save.ts';

export async function split({
  source,
  ranges,
  cut,
  pagesMax,
}: Extract<EngineTask, { kind: 'split' }>): Promise<EngineAnswer> {
  const pdf = await openPdf(source);
  const parts = partsOf(ranges, cut, pageCountOf(pdf));
  const pages = parts.reduce((sum, part) => sum + part.length, 0);
  if (pages > pagesMax) throw tooManyPages('ranges', pagesMax);
  const files: MadePdf[] = [];
  for (const part of parts) {
    const made = await PDFDocument.create({ updateMetadata: false });
    await copyPages(
      pdf,
      part.map((page) => page - 1),
      made,
    );
    files.push({ bytes: await savePdf(made), pages: part.length });
    requireRoom(
      files.reduce((sum, { bytes }) => sum + bytes.length, 0),
      'ranges',
    );
  }
  return { kind: 'made', files, engine: null, warnings: [] };
}

function partsOf(ranges: string, cut: Cut, pages: number): number[][] {
  if (typeof cut === 'number')
    return Array.from({ length: Math.ceil(pages / cut) }, (_, part) =>
      Array.from({ length: Math.min(cut, pages - part * cut) }, (__, at) => part * cut + at + 1),
    );
  const parts = rangesOf(ranges, pages, 'ranges');
  if (cut === 'ranges') return parts;
  return cut === 'unified' ? [parts.flat()] : parts.flat().map((page) => [page]);
}
