// Copies pages into a new document, and saves it as bytes.
import type { PDFDocument } from '@cantoo/pdf-lib';
import { admission } from '../../../../core/admission.ts';
import { Refused } from '../refused.ts';

/** Copies pages, by their numbers from 0, to the end of `to`. */
export async function copyPages(from: PDFDocument, pages: readonly number[], to: PDFDocument): Promise<void> {
  for (const page of await to.copyPages(from, [...pages])) to.addPage(page);
}

/** What one call may make: parts of a PDF may each have all that it shares. */
const MADE_BYTES_MAX = admission.call.pdf.madeBytesMax;

/** Throws Refused for more. */
export function requireRoom(bytes: number, field: string): void {
  if (bytes > MADE_BYTES_MAX)
    throw new Refused(field, 'too_large', 'The result has more than 64 MiB: take fewer pages at a time.');
}

export async function savePdf(pdf: PDFDocument): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await pdf.save({ addDefaultPage: false, objectsPerTick: 500, updateFieldAppearances: false });
  return bytes.byteLength === bytes.buffer.byteLength ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
