// Fills the form fields of a PDF.
import {
  PDFCheckBox,
  type PDFDocument,
  PDFDropdown,
  type PDFField,
  PDFOptionList,
  PDFRadioGroup,
  PDFTextField,
} from '@cantoo/pdf-lib';
import * as fontkit from 'fontkit';
import { fontsOf, USUAL_FONT } from '../document/fonts.ts';
import { Refused, tooManyPages } from '../refused.ts';
import type { EngineAnswer, EngineTask, FieldValue } from '../wire.ts';
import { openPdf, pageCountOf } from './open.ts';
import { savePdf } from './save.ts';

type FillTask = Extract<EngineTask, { kind: 'fill' }>;

const NAMED_MAX = 20;

export async function fill({ source, fields, flatten, pagesMax, fontsFolder }: FillTask): Promise<EngineAnswer> {
  const pdf = await openPdf(source);
  const pages = pageCountOf(pdf);
  if (pages > pagesMax) throw tooManyPages('source', pagesMax);
  if (pdf.catalog.getAcroForm() === undefined) throw new Refused('source', 'no_form', 'It has no form.');
  const form = pdf.getForm();
  const byName = new Map(form.getFields().map((field) => [field.getName(), field]));
  for (const [name, value] of Object.entries(fields)) {
    const field = byName.get(name);
    if (field === undefined) throw unknownField(name, [...byName.keys()]);
    setField(field, name, value);
  }
  const texts = Object.values(fields).flat().map(String).join('');
  form.updateFieldAppearances(await fontFor(pdf, texts, fontsFolder));
  if (flatten) form.flatten({ updateFieldAppearances: false });
  return { kind: 'made', files: [{ bytes: await savePdf(pdf), pages }], engine: null, warnings: [] };
}

/** The font of the document, unless the values have characters beyond Latin-1. */
async function fontFor(pdf: PDFDocument, texts: string, fontsFolder: string | null) {
  if (/^[\x20-\x7e\xa0-\xff\n\r\t]*$/.test(texts)) return undefined;
  const fonts = fontsOf(fontsFolder);
  const [, family] = fonts.runsOf(texts, USUAL_FONT, new Set()).find(([, font]) => font !== USUAL_FONT) ?? [];
  const file = fonts.files.get(fonts.descriptors[family ?? USUAL_FONT]?.normal ?? '');
  pdf.registerFontkit(fontkit as unknown as Parameters<PDFDocument['registerFontkit']>[0]);
  return pdf.embedFont(file as Buffer, { subset: true });
}

function setField(field: PDFField, name: string, value: FieldValue): void {
  const wrong = (expected: string) => new Refused(`fields.${name}`, 'type', `The field ${name} takes ${expected}.`);
  if (field instanceof PDFTextField) {
    if (typeof value === 'boolean' || typeof value === 'object') throw wrong('text');
    const most = field.getMaxLength();
    if (most !== undefined && String(value).length > most) throw wrong(`at most ${most} characters`);
    field.setText(String(value));
    return;
  }
  if (field instanceof PDFCheckBox) {
    if (typeof value !== 'boolean') throw wrong('true or false');
    if (value) field.check();
    else field.uncheck();
    return;
  }
  if (field instanceof PDFRadioGroup || field instanceof PDFDropdown || field instanceof PDFOptionList) {
    const chosen = (Array.isArray(value) ? value : [value]).map(String);
    const options = field.getOptions();
    const isOpen = field instanceof PDFDropdown && field.isEditable();
    if (!isOpen && chosen.some((each) => !options.includes(each)))
      throw wrong(`one of ${options.slice(0, NAMED_MAX).join(', ')}`);
    if (field instanceof PDFRadioGroup) field.select(chosen[0] ?? '');
    else field.select(chosen);
    return;
  }
  throw new Refused(`fields.${name}`, 'type', `The field ${name} is a button or a signature; it takes no value.`);
}

function unknownField(name: string, names: readonly string[]): Refused {
  const known = names.length === 0 ? 'none' : names.slice(0, NAMED_MAX).join(', ');
  return new Refused(
    `fields.${name.slice(0, 100)}`,
    'unknown_field',
    `The form has no such field. Its fields: ${known}.`,
  );
}
