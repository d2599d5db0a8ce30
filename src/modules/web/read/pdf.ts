// Text of a PDF, page by page, in drawing order.
import { getDocumentProxy } from 'unpdf';
import { Refused } from './refused.ts';
import type { ReadPage, ReadTask } from './wire.ts';

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Stops when there is more text than is wanted. */
export async function readPdf({ bytes, bytesMax }: ReadTask): Promise<Omit<ReadPage, 'kind'>> {
  const pdf = await openPdf(bytes);
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const texts: string[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages && characters <= bytesMax; number += 1) {
    const text = await pageText(pdf, number);
    characters += text.length + 2;
    texts.push(text);
  }
  const content = texts.filter((text) => text !== '').join('\n\n');
  const { Title, Author, Subject, Language } = info as Record<string, unknown>;
  return {
    title: infoText(Title),
    byline: infoText(Author),
    language: infoText(Language),
    description: infoText(Subject),
    content,
    links: [],
    truncated: characters > bytesMax,
    isShell: false,
  };
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { disableFontFace: true, useSystemFonts: false });
  } catch (error) {
    if ((error as Error).name === 'PasswordException') throw new Refused('encrypted', 'The PDF is encrypted.');
    throw new Refused('not_a_pdf', 'The PDF is damaged.');
  }
}

async function pageText(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const pieces = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''));
  page.cleanup();
  return pieces.join('').replaceAll('\0', '').trim();
}

const infoText = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 1_000) : null;
