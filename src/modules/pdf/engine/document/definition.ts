// Converts HTML to a pdfmake definition. What the converter makes of hostile attributes is corrected here: invalid numbers, fonts that do not
// exist, tables with holes.
import htmlToPdfmake from 'html-to-pdfmake';
import type { Document, Element } from './dom.ts';
import { type Fonts, USUAL_FONT } from './fonts.ts';
import { COLUMNS_SPANNED, ROWS_SPANNED } from './tables.ts';

/** A node of the layout. */
export type Node = { [name: string]: unknown };

const NUMBERS: Readonly<Record<string, readonly [number, number]>> = {
  fontSize: [1, 400],
  lineHeight: [0.5, 10],
  leadingIndent: [-500, 500],
  marginTop: [-500, 2_000],
  marginRight: [-500, 2_000],
  marginBottom: [-500, 2_000],
  marginLeft: [-500, 2_000],
  opacity: [0, 1],
  fillOpacity: [0, 1],
  colSpan: [1, 100],
  rowSpan: [1, 100],
  start: [0, 1_000_000],
};
/** All that the converter may say; anything else is no order to the layout. */
const KEPT =
  /^(?:text|stack|ol|ul|table|layout|image|svg|canvas|columns|nodeName|id|style|bold|italics|font|color|background|fillColor|alignment|decoration|noWrap|preserveLeadingSpaces|listStyle|listStyleType|type|margin|border|borderColor|width|height|maxWidth|maxHeight|link|linkToDestination|pageBreak|fit|body|widths|heights|headerRows)$/;

const borders = {
  hLineWidth: () => 0.5,
  vLineWidth: () => 0.5,
  hLineColor: () => '#c8ccd4',
  vLineColor: () => '#c8ccd4',
  paddingLeft: () => 5,
  paddingRight: () => 5,
  paddingTop: () => 3,
  paddingBottom: () => 3,
};
export const tableLayouts = { plain: borders };

const defaultStyles = {
  h1: { fontSize: 24, bold: true, marginTop: 4, marginBottom: 8 },
  h2: { fontSize: 18, bold: true, marginTop: 10, marginBottom: 6 },
  h3: { fontSize: 14, bold: true, marginTop: 8, marginBottom: 4 },
  h4: { fontSize: 12, bold: true, marginTop: 6, marginBottom: 3 },
  h5: { fontSize: 11, bold: true, marginTop: 4, marginBottom: 2 },
  h6: { fontSize: 10, bold: true, marginTop: 4, marginBottom: 2 },
  p: { margin: [0, 0, 0, 8] },
  ul: { marginBottom: 8, marginLeft: 4 },
  ol: { marginBottom: 8, marginLeft: 4 },
  table: { marginTop: 2, marginBottom: 10 },
  th: { bold: true, fillColor: '#f0f2f5' },
  a: { color: '#1a56db', decoration: 'underline' },
  pre: { fontSize: 9, marginBottom: 8, background: '#f5f6f8' },
  code: { background: '#f5f6f8' },
  blockquote: { color: '#4b5563', marginLeft: 14, marginBottom: 8 },
};

export interface Frame {
  /** Between the margins, points. */
  readonly width: number;
  readonly height: number;
}

export function contentOf(document: Document, frame: Frame): unknown {
  const window = {
    DOMParser: class {
      parseFromString = () => document;
    },
  };
  return htmlToPdfmake('-', {
    window,
    defaultStyles,
    removeTagClasses: true,
    tableAutoSize: true,
    customTag: ({ element, ret }: { element: Element; ret: Node }) => adjustNode(element, ret, frame),
  });
}

function adjustNode(element: Element, node: Node, frame: Frame): Node {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  const style = element.getAttribute('style') ?? '';
  if (/break-before:\s*(?:always|page|left|right)/.test(style)) node.pageBreak = 'before';
  else if (/break-after:\s*(?:always|page|left|right)/.test(style)) node.pageBreak = 'after';
  if (element.nodeName === 'TABLE') {
    let headerRows = 0;
    for (const _ of element.querySelectorAll('thead > tr')) headerRows += 1;
    node.layout = 'plain';
    node.table = tableOf(node.table as Node, headerRows);
  }
  if (element.nodeName === 'TD' || element.nodeName === 'TH') noteSpans(element, node);
  if (element.nodeName === 'HR')
    return {
      canvas: [{ type: 'line', x1: 0, y1: 0, x2: frame.width, y2: 0, lineWidth: 0.75, lineColor: '#c8ccd4' }],
      margin: [0, 6, 0, 12],
    };
  if (element.nodeName === 'IMG' || element.nodeName === 'SVG') fitIn(node, frame);
  return node;
}

/** What a cell spans, under names that the converter does not act upon. */
function noteSpans(element: Element, node: Node): void {
  const [rows, columns] = [element.getAttribute(ROWS_SPANNED), element.getAttribute(COLUMNS_SPANNED)];
  if (rows !== null) node.rowsSpanned = Number(rows);
  if (columns !== null) node.columnsSpanned = Number(columns);
}

/** The rows are of one length (tables.ts). */
function tableOf(table: Node, headerRows: number): Node {
  const body = (Array.isArray(table.body) ? table.body : []).filter((row) => Array.isArray(row)) as Node[][];
  const [first] = body;
  if (first === undefined) return { body: [[{ text: '' }]] };
  for (const cell of body.flat()) {
    if (cell.rowsSpanned !== undefined) cell.rowSpan = cell.rowsSpanned;
    if (cell.columnsSpanned !== undefined) cell.colSpan = cell.columnsSpanned;
  }
  const given = Array.isArray(table.widths) ? table.widths : [];
  const widths = first.map((_, column) => widthOf(given[column]));
  return { body, widths, headerRows: Math.min(headerRows, body.length - 1), dontBreakRows: false };
}

function widthOf(width: unknown): unknown {
  if (typeof width === 'number' && width >= 0 && width < 2_000) return width;
  return width === '*' || (typeof width === 'string' && /^\d{1,3}(?:\.\d+)?%$/.test(width)) ? width : 'auto';
}

function fitIn(node: Node, { width, height }: Frame): void {
  const isLength = (value: unknown): value is number =>
    typeof value === 'number' && value > 0 && Number.isFinite(value);
  const [wide, high] = [node.width, node.height];
  delete node.width;
  delete node.height;
  if (isLength(wide)) node.width = Math.min(wide, width);
  if (isLength(high)) node.height = Math.min(high, height);
  if (!isLength(wide) && !isLength(high)) node.fit = undefined;
  node.maxWidth = width;
  node.maxHeight = height;
}

/** Puts right every node, and gives every text a font that has its characters. Goes without recursion. */
export function mendNodes(content: unknown, fonts: Fonts, missing: Set<string>): void {
  const waiting: { node: unknown; font: string }[] = [{ node: content, font: USUAL_FONT }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node } = next;
    if (Array.isArray(node)) {
      for (const each of node) waiting.push({ node: each, font: next.font });
      continue;
    }
    if (typeof node !== 'object' || node === null) continue;
    const font = mend(node as Node, fonts) ?? next.font;
    const { text, stack, ol, ul, table, columns } = node as Node;
    if (typeof text === 'string') setRuns(node as Node, text, font, fonts, missing);
    else waiting.push({ node: text, font });
    for (const below of [stack, ol, ul, columns]) if (below !== undefined) waiting.push({ node: below, font });
    if (table !== undefined) waiting.push({ node: (table as Node).body, font });
  }
}

/** Answers the font that the node says. */
function mend(node: Node, fonts: Fonts): string | null {
  for (const [name, value] of Object.entries(node)) {
    const bounds = NUMBERS[name];
    if (bounds !== undefined) {
      const number = typeof value === 'number' ? value : Number.NaN;
      if (Number.isNaN(number)) delete node[name];
      else node[name] = Math.min(bounds[1], Math.max(bounds[0], number));
    } else if (!KEPT.test(name)) delete node[name];
  }
  if (node.margin !== undefined && !isMargin(node.margin)) delete node.margin;
  if (node.table !== undefined || typeof node.width === 'string') delete node.width;
  if (node.image === undefined && node.svg === undefined) {
    delete node.width;
    delete node.height;
  }
  const family = typeof node.font === 'string' ? fonts.familyOf(node.font) : null;
  if (family === null) delete node.font;
  else node.font = family;
  return family;
}

function isMargin(margin: unknown): boolean {
  const sides = Array.isArray(margin) ? margin : [margin];
  return (
    sides.length > 0 && sides.length <= 4 && sides.every((side) => typeof side === 'number' && Math.abs(side) <= 2_000)
  );
}

function setRuns(node: Node, text: string, font: string, fonts: Fonts, missing: Set<string>): void {
  const runs = fonts.runsOf(text, font, missing);
  if (runs.length === 1 && runs[0]?.[1] === font) return;
  node.text = runs.map(([run, family]) => ({ text: run, font: family }));
}
