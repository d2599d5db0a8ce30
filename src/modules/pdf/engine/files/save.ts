// Pages put into a new document, and its bytes.
import type { PDFDocument } from '@cantoo/pdf-lib';

/** Copies pages, by their numbers from 0, to the end of `to`. */
export async function copied(from: PDFDocument, pages: readonly number[], to: PDFDocument): Promise<void> {
  for (const page of await to.copyPages(from, [...pages])) to.addPage(page);
}

export async function saved(pdf: PDFDocument): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await pdf.save({ addDefaultPage: false, objectsPerTick: 500, updateFieldAppearances: false });
  return bytes.byteLength === bytes.buffer.byteLength ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
