// The document engine: a layout of headings, text, lists, tables, images, links and page breaks, without a browser. It reaches neither files nor
// the network: fonts are passed in, and images are fetched before.
import { marked } from 'marked';
import pdfmake from 'pdfmake';
import { tooManyPages } from '../refused.ts';
import type { Ask, CreateTask, MadePdf, MarginLine } from '../wire.ts';
import { contentOf, mendNodes, type Node, tableLayouts } from './definition.ts';
import { fontsOf, USUAL_FONT } from './fonts.ts';
import { marginText, readHtml } from './html.ts';
import { loadImages } from './images.ts';
import { layOutLongTexts } from './long-text.ts';

export interface MadeDocument {
  readonly pdf: MadePdf;
  readonly warnings: readonly string[];
  /** What was left out: names of elements and properties. */
  readonly ignored: readonly string[];
}

const TEXT_SIZE = 10.5;
const MARGIN_TEXT_SIZE = 8;

export async function createDocument(task: CreateTask, ask: Ask): Promise<MadeDocument> {
  layOutLongTexts();
  const ignored = new Set<string>();
  const warnings: string[] = [];
  const { content, title } = await contentAndTitle(task, ask, ignored, warnings);
  const fonts = fontsOf(task.fontsFolder);
  const missing = new Set<string>();
  mendNodes(content, fonts, missing);
  if (missing.size > 0) warnings.push(missingWarning(missing));
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy(() => false);
  pdfmake.setTableLayouts(tableLayouts);
  pdfmake.setFonts(fonts.descriptors);
  for (const [name, bytes] of fonts.files) pdfmake.virtualfs.writeFileSync(name, bytes);
  let pages = 0;
  const bytes = await pdfmake
    .createPdf({
      ...pageOf(task),
      content,
      info: { ...(title === '' ? {} : { title }), creator: 'Quartermaster', producer: 'Quartermaster' },
      defaultStyle: { font: USUAL_FONT, fontSize: TEXT_SIZE, lineHeight: 1.25 },
      // Asked for each page as it is begun.
      background(page: number) {
        pages = Math.max(pages, page);
        if (page > task.pagesMax) throw tooManyPages('content', task.pagesMax);
        return null;
      },
    })
    .getBuffer();
  return { pdf: { bytes: new Uint8Array(bytes), pages }, warnings, ignored: [...ignored] };
}

async function contentAndTitle(task: CreateTask, ask: Ask, ignored: Set<string>, warnings: string[]) {
  const { type, content, page } = task;
  if (type === 'text')
    return { content: [{ text: content, preserveLeadingSpaces: true }] as Node[], title: task.title ?? '' };
  const html = type === 'markdown' ? marked.parse(content, { async: false, gfm: true }) : content;
  const document = readHtml(html, ignored, task.assets);
  await loadImages(document, ask, warnings);
  const { margins } = page;
  const frame = {
    width: Math.max(1, page.width - margins.left - margins.right),
    height: Math.max(1, page.height - margins.top - margins.bottom),
  };
  return { content: [contentOf(document, frame)], title: task.title ?? document.title.trim().slice(0, 200) };
}

function pageOf({ page, header, footer }: CreateTask) {
  const { top, right, bottom, left } = page.margins;
  const line = (of: MarginLine | null, margin: readonly number[]) => {
    const text = of === null ? null : marginText(of);
    return text === null
      ? undefined
      : (current: number, of: number) => ({
          text: text.replaceAll('{page}', String(current)).replaceAll('{pages}', String(of)),
          fontSize: MARGIN_TEXT_SIZE,
          color: '#6b7280',
          alignment: 'center',
          margin: [...margin],
        });
  };
  return {
    pageSize: { width: page.width, height: page.height },
    pageMargins: [left, top, right, bottom] as const,
    header: line(header, [left, Math.max(0, top / 2 - MARGIN_TEXT_SIZE), right, 0]),
    footer: line(footer, [left, Math.max(0, bottom / 2 - MARGIN_TEXT_SIZE), right, 0]),
  };
}

const MISSING_NAMED_MAX = 20;

function missingWarning(missing: ReadonlySet<string>): string {
  const named = [...missing].slice(0, MISSING_NAMED_MAX).join(' ');
  return `No font has these characters, so they are not shown: ${named}${missing.size > MISSING_NAMED_MAX ? ' …' : ''}.`;
}
