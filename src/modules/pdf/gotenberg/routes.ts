// Gotenberg's routes: multipart forms in, PDFs out. Each route is a call of the capability that does the same, with its scope, rate and price.

import type { Credential } from '../../../core/credentials/credential.ts';
import { apiKeyHeader, basic, bearer } from '../../../core/credentials/http-schemes.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { zipOf } from '../../../lib/zip.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { EngineWish, MadePdf } from '../engine/wire.ts';
import { chargePages } from '../operations/paid.ts';
import type { PdfState } from '../state.ts';
import { FORM_BYTES_MAX, type GotenbergForm, readGotenbergForm } from './form.ts';
import { convertTask, mergeTask, splitTask } from './tasks.ts';

const ROOT = '/v1/pdf/gotenberg/forms';

type TaskOf = (form: GotenbergForm, pagesMax: number, settings: PdfState['settings']) => EngineWish;

const route = (path: string, capability: string, taskOf: TaskOf): RawRoute<PdfState> => ({
  name: 'pdf.gotenberg',
  methods: ['POST'],
  path: `${ROOT}/${path}`,
  capability,
  bodyBytesMax: FORM_BYTES_MAX,
  credentialOf,
  refuse,
  answer: (request, state) => serve(request, state, taskOf),
});

export const gotenbergRoutes: readonly RawRoute<PdfState>[] = [
  route('chromium/convert/html', 'pdf.create', convertTask),
  route('chromium/convert/markdown', 'pdf.create', convertTask),
  route('pdfengines/merge', 'pdf.merge', mergeTask),
  route('pdfengines/split', 'pdf.split', splitTask),
];

function credentialOf(head: RawHead): Credential | null {
  return bearer(head) ?? basic('password', head) ?? apiKeyHeader(head);
}

async function serve(request: RawRequest, { engines, settings }: PdfState, taskOf: TaskOf): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const form = await request.read(readGotenbergForm, request.body);
  let files: readonly MadePdf[] = [];
  const { costNanos = 0n } = await chargePages(ctx, async (pagesMax) => {
    ({ files } = await engines.run(ctx, taskOf(form, pagesMax, settings), 'made'));
    ctx.holdMade(files.reduce((sum, { bytes }) => sum + bytes.length, 0));
    return { pages: files.reduce((sum, { pages }) => sum + pages, 0), data: {} };
  });
  return { ...(await answerOf(ctx, files, form, outputName(request))), costNanos };
}

async function answerOf(
  { requestId }: CallContext,
  files: readonly MadePdf[],
  form: GotenbergForm,
  name: string,
): Promise<RawAnswer> {
  const [first] = files;
  const isOne = files.length === 1 && first !== undefined;
  const source = form.files[0]?.name.replace(/\.pdf$/i, '').replaceAll(/[^\w. -]/g, '_') ?? 'part';
  const body = isOne
    ? Buffer.from(first.bytes.buffer)
    : await zipOf(files.map(({ bytes }, at) => ({ name: `${source}_${at}.pdf`, bytes })));
  return {
    status: 200,
    headers: {
      'content-type': isOne ? 'application/pdf' : 'application/zip',
      'content-disposition': `attachment; filename="${name}.${isOne ? 'pdf' : 'zip'}"`,
      'gotenberg-trace': requestId,
      'cache-control': 'no-store',
    },
    body,
  };
}

function outputName({ headers }: RawHead): string {
  const sent = headers['gotenberg-output-filename'];
  return typeof sent === 'string' && /^[\w. -]{1,100}$/.test(sent) ? sent : 'document';
}

/** Text, as Gotenberg says it, with our code. */
function refuse({ httpStatus, code, message, retryAfterMs }: Problem, { requestId }: RawHead): RawAnswer {
  const wait: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
  return {
    status: httpStatus,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'gotenberg-trace': requestId, ...wait },
    body: `${code}: ${message} (${requestId})`,
  };
}
