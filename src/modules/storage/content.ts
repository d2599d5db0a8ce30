// Link routes: objects for anyone who has the URL, without a key. Content that a browser would render as a page is sent as a file download.

import { clockNow } from '../../core/database-clock.ts';
import { chargeWork } from '../../core/wallet/charge/charge-work.ts';
import { countAccepted } from '../../core/wallet/ledger/accepted-units.ts';
import { openWallet } from '../../core/wallet/open-wallet.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import type { ObjectRow } from '../../objects/object.ts';
import { type FoundObject, findObject } from '../../objects/read.ts';
import { problem } from './problems.ts';
import { countDownload, shareTable } from './shares/shares.ts';
import type { StorageState } from './state.ts';

const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' } as const;
/** What browsers show without running anything of it. */
const SHOWN = /^(image\/(jpeg|png|gif|webp|avif)|audio\/|video\/|text\/plain|application\/pdf)/i;
const BODY_BYTES_MAX = 1_024;

export const contentRoute: RawRoute<StorageState> = {
  name: 'storage.content',
  methods: ['GET', 'HEAD', 'OPTIONS'],
  path: '/v1/storage/content/{token}',
  capability: null,
  stream: 'answer',
  bodyBytesMax: BODY_BYTES_MAX,
  answer: (request, state) => (request.method === 'OPTIONS' ? Promise.resolve(preflight) : content(request, state)),
};

export const sharedRoute: RawRoute<StorageState> = {
  name: 'storage.shared',
  methods: ['GET', 'HEAD'],
  path: '/v1/storage/shared/{token}',
  capability: null,
  stream: 'answer',
  bodyBytesMax: BODY_BYTES_MAX,
  answer: answerShare,
};

const preflight: RawAnswer = {
  status: 204,
  headers: { ...open, 'access-control-allow-methods': 'GET, HEAD', 'access-control-allow-headers': 'range, if-range' },
  body: '',
};

async function content({ params }: RawRequest, { core, links }: StorageState): Promise<RawAnswer> {
  const { accountId, bucket, key, etag, endMs } = links.readContent(params.token ?? '');
  if (endMs <= (await clockNow(core.db))) throw problem('LINK_EXPIRED');
  const found = await findObject({ core, accountId }, { bucket, key: Buffer.from(key, 'base64url') });
  if (found.row.etag !== etag)
    throw problem('OBJECT_NOT_FOUND', { message: 'The object was replaced. Read it again.' });
  return objectAnswer(found, {
    ...open,
    'access-control-expose-headers': 'content-length, content-range, etag',
    'cache-control': 'private, max-age=3600, no-transform',
  });
}

/** `filename`: as it is saved by. */
function objectAnswer(
  { row, open }: FoundObject,
  headers: Readonly<Record<string, string>>,
  filename: string | null = null,
): RawAnswer {
  const kind = SHOWN.test(row.content_type) && filename === null ? 'inline' : 'attachment';
  return {
    status: 200,
    headers: {
      'content-type': row.content_type,
      'content-disposition': `${kind}; filename*=UTF-8''${encodeURIComponent(filename ?? lastPart(row)).replaceAll(/['()*]/g, percent)}`,
      ...(row.headers?.content_encoding === undefined ? {} : { 'content-encoding': row.headers.content_encoding }),
      ...headers,
    },
    body: { length: Number(row.bytes), etag: `"${row.etag}"`, lastModifiedMs: row.updated_at, open },
  };
}

const lastPart = ({ key }: ObjectRow) =>
  key
    .toString('utf8')
    .split('/')
    .findLast((part) => part !== '') ?? 'object';
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

async function answerShare({ params, method }: RawRequest, { core, links }: StorageState): Promise<RawAnswer> {
  const { accountId, shareId } = links.readShare(params.token ?? '');
  const share = await shareTable.find(core.db, { accountId }, shareId);
  if (share === null || share.expires_at <= (await clockNow(core.db))) throw problem('LINK_EXPIRED');
  const found = await findObject({ core, accountId }, share);
  if (method === 'GET') await download(core, share);
  const answer = objectAnswer(found, { 'cache-control': 'private, no-store' }, share.filename ?? lastPart(found.row));
  if (share.downloads_max === null || typeof answer.body === 'string' || !('open' in answer.body)) return answer;
  // A part would count as a download of its own: the whole is what is offered.
  const length = Number(found.row.bytes);
  return {
    ...answer,
    headers: { ...answer.headers, 'content-length': String(length), 'accept-ranges': 'none' },
    body: method === 'HEAD' ? '' : answer.body.open(0, length - 1),
  };
}

/** Counts and charges it, together or not at all. Throws LINK_EXPIRED, INSUFFICIENT_CREDIT. */
function download(
  { db, prices }: Services,
  share: { account_id: string; share_id: string; key_id: string },
): Promise<void> {
  const { account_id: accountId, share_id: shareId, key_id: keyId } = share;
  const work = { capability: 'storage.read', keyId, units: 1n };
  return db.transaction(async (tx) => {
    const opened = await openWallet(tx, accountId);
    if (opened === null || !(await countDownload(tx, accountId, shareId, opened.nowMs))) throw problem('LINK_EXPIRED');
    const [verdict] = await chargeWork(tx, opened, prices, [work]);
    if (verdict?.charged !== true) {
      throw problem('INSUFFICIENT_CREDIT', {
        message: 'The account that shares the object has no credit for its download.',
      });
    }
    await countAccepted(tx, [{ accountId, capability: work.capability, units: 1n }]);
  }, accountId);
}
