// GET /v1/files/{name}: a file that a call has made, by a signed link, whole or in ranges. Only pictures and PDFs are shown inline; all other
// types are downloads.
import { assetBytes } from '../../assets/asset-bytes.ts';
import { clockNow } from '../../core/database-clock.ts';
import { contentTypeOf, FileLinks, MADE } from '../../files/links.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { problem } from '../../problems/problem.ts';

const GONE = 'The file is not kept any more.';
const BODY_BYTES_MAX = 1_024;
const SHOWN = /^(?:image\/(?!svg)|application\/pdf$)/;

export function fileRoutes(services: () => Services): readonly RawRoute[] {
  return [
    {
      name: 'files.link',
      methods: ['GET', 'HEAD'],
      path: '/v1/files/{name}',
      capability: null,
      stream: 'answer',
      bodyBytesMax: BODY_BYTES_MAX,
      answer: (request) => answerLink(services(), request),
    },
  ];
}

async function answerLink(core: Services, { params, query }: RawRequest): Promise<RawAnswer> {
  const file = new FileLinks(core).read(params.name ?? '', query);
  if (file.endMs <= (await clockNow(core.db))) throw problem('LINK_EXPIRED');
  const contentType = contentTypeOf(file.name);
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-disposition': `${SHOWN.test(contentType) ? 'inline' : 'attachment'}; filename="${file.filename}"`,
      'cache-control': 'private, max-age=3600, no-transform',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    },
    body: {
      length: file.length,
      etag: `"${file.name}"`,
      open: (start, end) => assetBytes(core, `${MADE}${file.accountId}/${file.name}`, { start, end, gone: GONE }),
    },
  };
}
