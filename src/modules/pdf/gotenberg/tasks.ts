// Gotenberg forms as tasks of the PDF engines.
import type { CreateWish, EngineWish, MarginLine } from '../engine/wire.ts';
import { CONTENT_BYTES_MAX, SOURCES_MAX } from '../limits.ts';
import { RANGES_PATTERN } from '../ranges.ts';
import type { PdfState } from '../state.ts';
import { type GotenbergForm, invalid, requireServed } from './form.ts';
import { PAPER_FIELDS, paperOf } from './paper.ts';

const INDEX = 'index.html';
const ranges = new RegExp(RANGES_PATTERN);
const byName = new Intl.Collator('en', { numeric: true });

/** index.html with the files that it names; in a template of Markdown `{{ toHTML "file.md" }}` is the file. Throws INVALID_REQUEST. */
export function convertTask(form: GotenbergForm, pagesMax: number, settings: PdfState['settings']): CreateWish {
  requireServed(form, [...PAPER_FIELDS, 'scale', 'nativePageRanges', 'emulatedMediaType', 'metadata']);
  const { fields } = form;
  const index = form.files.find(({ name }) => name === INDEX);
  if (index === undefined) throw invalid(`Invalid form data: form file '${INDEX}' is required`);
  if (index.bytes.length > CONTENT_BYTES_MAX) throw invalid(`Form file '${INDEX}' has more than 2 MiB.`);
  if (fields.emulatedMediaType === 'screen') throw invalid("Form field 'emulatedMediaType' is 'print' here.");
  return {
    ...({ kind: 'create', type: 'html', content: textOf(index.bytes), pagesMax } as const),
    engine: settings.hasBrowser ? 'browser' : 'document',
    page: paperOf(form),
    header: lineOf(form, 'header.html'),
    footer: lineOf(form, 'footer.html'),
    title: titleOf(fields.metadata),
    assets: form.files.filter((file) => ![INDEX, 'header.html', 'footer.html'].includes(file.name)),
    onlyPages: rangesOf(fields.nativePageRanges),
    scale: scaleOf(fields.scale),
  };
}

/** By the names of the files, as Gotenberg does. Throws INVALID_REQUEST. */
export function mergeTask(form: GotenbergForm, pagesMax: number): EngineWish {
  requireServed(form, []);
  const files = form.files.toSorted((one, other) => byName.compare(one.name, other.name));
  if (files.length < 1 || files.length > SOURCES_MAX)
    throw invalid(`Invalid form data: 1 to ${SOURCES_MAX} form files are merged, not ${files.length}`);
  return { kind: 'merge', sources: files.map(({ bytes }) => bytes.slice()), pagesMax };
}

/** Throws INVALID_REQUEST. */
export function splitTask(form: GotenbergForm, pagesMax: number): EngineWish {
  requireServed(form, ['splitMode', 'splitSpan', 'splitUnify']);
  const { splitMode, splitSpan = '', splitUnify } = form.fields;
  const [source] = form.files;
  if (source === undefined || form.files.length > 1)
    throw invalid('Invalid form data: one form file is split at a time');
  const of = { kind: 'split', source: source.bytes.slice(), pagesMax } as const;
  if (splitMode === 'intervals') {
    const every = Number(splitSpan);
    if (!/^\d{1,4}$/.test(splitSpan) || every < 1)
      throw invalid("Invalid form data: form field 'splitSpan' is a number");
    return { ...of, ranges: '', cut: every };
  }
  if (splitMode !== 'pages') throw invalid("Invalid form data: form field 'splitMode' is 'intervals' or 'pages'");
  const wanted = rangesOf(splitSpan);
  if (wanted === null) throw invalid("Invalid form data: form field 'splitSpan' is required");
  return { ...of, ranges: wanted, cut: splitUnify === 'true' ? 'unified' : 'pages' };
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

function lineOf({ files }: GotenbergForm, name: string): MarginLine | null {
  const file = files.find((each) => each.name === name);
  return file === undefined ? null : { html: textOf(file.bytes) };
}

function rangesOf(sent = ''): string | null {
  if (sent.trim() === '') return null;
  if (!ranges.test(sent)) throw invalid(`Invalid form data: no page ranges: ${sent.slice(0, 40)}`);
  return sent;
}

function scaleOf(sent = '1'): number {
  const scale = Number(sent);
  if (!(scale >= 0.1 && scale <= 2)) throw invalid("Invalid form data: form field 'scale' is 0.1 to 2");
  return scale;
}

/** Of the metadata the title alone. */
function titleOf(metadata = '{}'): string | null {
  try {
    const { Title: title } = (JSON.parse(metadata) ?? {}) as { readonly Title?: unknown };
    return typeof title === 'string' && title !== '' ? title.slice(0, 200) : null;
  } catch (cause) {
    throw Object.assign(invalid("Invalid form data: form field 'metadata' is no JSON"), { cause });
  }
}
