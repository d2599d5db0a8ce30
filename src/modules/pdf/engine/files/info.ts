// Metadata of a PDF: page sizes, document properties, form fields.
import {
  PDFButton,
  PDFCheckBox,
  PDFDocument,
  PDFDropdown,
  type PDFField,
  PDFOptionList,
  PDFRadioGroup,
  PDFSignature,
  PDFTextField,
} from '@cantoo/pdf-lib';
import { Refused } from '../refused.ts';
import type { EngineAnswer, EngineTask, FormField, PdfInfo } from '../wire.ts';
import { requireHead } from './open.ts';

const SIZES_MAX = 500;
const FIELDS_MAX = 500;
const TEXT_MAX = 500;
const OPTIONS_MAX = 100;

export async function info({ source }: Extract<EngineTask, { kind: 'info' }>): Promise<EngineAnswer> {
  requireHead(source, 'source');
  const pdf = await PDFDocument.load(source, { updateMetadata: false, ignoreEncryption: true });
  const encrypted = pdf.isEncrypted;
  const pages = pdf.getPageCount();
  if (pages === 0 && !encrypted) throw new Refused('source', 'not_a_pdf', 'It has no pages.');
  // What is encrypted reads as noise.
  const readUnencrypted = <T>(read: () => T | undefined): T | null => (encrypted ? null : (quiet(read) ?? null));
  const text = (read: () => string | undefined) => readUnencrypted(read)?.slice(0, TEXT_MAX) ?? null;
  const date = (read: () => Date | undefined) => readUnencrypted(read)?.toISOString() ?? null;
  const told: PdfInfo = {
    pages,
    page_sizes: pageSizesOf(pdf),
    encrypted,
    title: text(() => pdf.getTitle()),
    author: text(() => pdf.getAuthor()),
    subject: text(() => pdf.getSubject()),
    creator: text(() => pdf.getCreator()),
    producer: text(() => pdf.getProducer()),
    created_at: date(() => pdf.getCreationDate()),
    modified_at: date(() => pdf.getModificationDate()),
    fields: encrypted || pdf.catalog.getAcroForm() === undefined ? [] : fieldsOf(pdf),
  };
  return { kind: 'info', info: told };
}

/** A document may be sound but for what it says here. */
function quiet<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function pageSizesOf(pdf: PDFDocument) {
  return pdf
    .getPages()
    .slice(0, SIZES_MAX)
    .map((page) => quiet(() => page.getSize()) ?? { width: 0, height: 0 })
    .map(({ width, height }) => ({ width: roundPoints(width), height: roundPoints(height) }));
}

const roundPoints = (points: number) => Math.round(points * 100) / 100;

function fieldsOf(pdf: PDFDocument): FormField[] {
  return pdf.getForm().getFields().slice(0, FIELDS_MAX).map(fieldOf);
}

function fieldOf(field: PDFField): FormField {
  const name = field.getName().slice(0, TEXT_MAX);
  const of = (
    type: FormField['type'],
    value: FormField['value'] = null,
    options: string[] | null = null,
  ): FormField => ({
    name,
    type,
    value,
    options: options?.slice(0, OPTIONS_MAX) ?? null,
  });
  if (field instanceof PDFTextField) return of('text', quiet(() => field.getText())?.slice(0, TEXT_MAX) ?? null);
  if (field instanceof PDFCheckBox) return of('checkbox', quiet(() => field.isChecked()) ?? null);
  if (field instanceof PDFRadioGroup)
    return of('radio', quiet(() => field.getSelected()) ?? null, quiet(() => field.getOptions()) ?? []);
  if (field instanceof PDFDropdown || field instanceof PDFOptionList)
    return of('choice', quiet(() => field.getSelected()) ?? null, quiet(() => field.getOptions()) ?? []);
  if (field instanceof PDFSignature) return of('signature');
  return of(field instanceof PDFButton ? 'button' : 'text');
}
