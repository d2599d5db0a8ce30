// Text extraction: the text of pages, in the order in which they draw it.
import { getDocumentProxy } from 'unpdf';
import { rangesOf } from '../../ranges.ts';
import { Refused, tooManyPages } from '../refused.ts';
import type { EngineAnswer, EngineTask, PageText } from '../wire.ts';
import { requireHead } from './open.ts';

/** What an answer may have. */
export const TEXT_CHARACTERS_MAX = 2 * 1024 * 1024;

export async function text({
  source,
  pages: wanted,
  pagesMax,
}: Extract<EngineTask, { kind: 'text' }>): Promise<EngineAnswer> {
  requireHead(source, 'source');
  const pdf = await openPdf(source);
  const numbers = [...new Set(rangesOf(wanted ?? '1-', pdf.numPages, 'pages').flat())];
  if (numbers.length > pagesMax) throw tooManyPages('pages', pagesMax);
  const pages: PageText[] = [];
  let characters = 0;
  for (const page of numbers) {
    const read = await pageText(pdf, page);
    characters += read.length;
    if (characters > TEXT_CHARACTERS_MAX)
      throw new Refused('pages', 'too_long', 'The text has more than 2 MiB: read fewer pages at a time.');
    pages.push({ page, text: read });
  }
  return { kind: 'text', pages };
}

async function openPdf(source: Uint8Array) {
  try {
    return await getDocumentProxy(source, { disableFontFace: true, useSystemFonts: false });
  } catch (error) {
    if ((error as Error).name === 'PasswordException')
      throw new Refused('source', 'encrypted', 'It is encrypted: send it without a password.');
    throw error;
  }
}

async function pageText(pdf: Awaited<ReturnType<typeof getDocumentProxy>>, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const pieces = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''));
  page.cleanup();
  return pieces.join('').replaceAll('\0', '').trim();
}
