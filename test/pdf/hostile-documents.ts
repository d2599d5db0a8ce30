// Documents and PDFs of those who want to do harm, and a service that gives up on them soon.
import { admission } from '../../src/core/admission.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { base64, PdfBench } from './harness.ts';

export const MS_MAX = 3_000;

export class HostileBench extends PdfBench {
  static async soon(env: Record<string, string> = {}, msMax = MS_MAX): Promise<HostileBench> {
    const pdf = { ...admission.call.pdf, msMax };
    const service = await startTestService({ env: { CHROMIUM_PATH: '', ...env }, admission: { call: { pdf } } });
    return new HostileBench(service, await createTestAccount(service.core));
  }
}

/** A PDF of these objects, the first of which is the catalog. */
export const pdfOf = (...objects: readonly string[]) =>
  base64(
    `%PDF-1.5\n${objects.map((object, at) => `${at + 1} 0 obj${object}endobj\n`).join('')}trailer<</Root 1 0 R>>\n%%EOF`,
  );

export const streamOf = (dictionary: string, bytes: Buffer) =>
  `<<${dictionary}/Filter/FlateDecode/Length ${bytes.length}>>stream\n${bytes.toString('latin1')}\nendstream `;

export const CATALOG = '<</Type/Catalog/Pages 2 0 R>>';
export const ONE_PAGE = '<</Type/Pages/Kids[3 0 R]/Count 1>>';
export const PAGE = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>';

export const everyOperation = ({ call }: PdfBench, pdf: string) => [
  call('POST', '/v1/pdf/info', { source: { content_base64: pdf } }),
  call('POST', '/v1/pdf/extract_text', { source: { content_base64: pdf } }),
  call('POST', '/v1/pdf/split', { source: { content_base64: pdf }, ranges: '1' }),
  call('POST', '/v1/pdf/fill', { source: { content_base64: pdf }, fields: { a: 'b' } }),
  call('POST', '/v1/pdf/merge', { sources: [{ content_base64: pdf }, { content_base64: pdf }] }),
];
