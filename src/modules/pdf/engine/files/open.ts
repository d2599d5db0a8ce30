// Opens a PDF that a caller sent: hostile until it is parsed completely.
import { EncryptedPDFError, PDFDocument } from '@cantoo/pdf-lib';
import { Refused } from '../refused.ts';

const OBJECTS_AT_A_TIME = 500;

/** `field`, `index`: where it was named. Throws Refused for what is no PDF, or is encrypted. */
export async function openPdf(bytes: Uint8Array, field = 'source', index: number | null = null): Promise<PDFDocument> {
  requireHead(bytes, field, index);
  try {
    return await PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: OBJECTS_AT_A_TIME });
  } catch (error) {
    if (error instanceof EncryptedPDFError)
      throw new Refused(field, 'encrypted', 'It is encrypted: send it without a password.', index);
    if (error instanceof RangeError) throw error;
    throw new Refused(field, 'not_a_pdf', 'It is damaged: its objects cannot be read.', index);
  }
}

/** Readers look for the head in the first KiB. */
export function requireHead(bytes: Uint8Array, field: string, index: number | null = null): void {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024));
  if (!head.includes('%PDF-')) throw new Refused(field, 'not_a_pdf', 'It is no PDF.', index);
}

/** As its tree of pages has them. Throws Refused for none. */
export function pageCountOf(pdf: PDFDocument, field = 'source', index: number | null = null): number {
  const pages = pdf.getPageCount();
  if (pages === 0) throw new Refused(field, 'not_a_pdf', 'It has no pages.', index);
  return pages;
}
