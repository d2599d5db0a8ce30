// The public route of image links: serves an object of the account, transformed, to anyone who has the address. The first request renders it,
// charged as an image.transform call of the key that made the link; later requests get the stored rendering. A link expires by time, and when
// that key ends.

import { available } from '../../../assets/assets.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { readStored } from '../../../files/stored.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { CallContext, Services } from '../../../kit/services.ts';
import { findObject } from '../../../objects/read.ts';
import { problem } from '../../../problems/problem.ts';
import { AssetGone } from '../../../vendors/assets/port.ts';
import { contentTypeOf } from '../pictures/images.ts';
import type { Transform } from '../pictures/task.ts';
import type { ImageState } from '../state.ts';
import { presetTable } from './presets.ts';
import { findRendered, keepRendered, type Rendered, renderedId, renderedKey } from './rendered.ts';

const KIND = 'image';
const TRANSFORM = 'image.transform';
const open = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' } as const;

export interface ImageLink {
  readonly accountId: string;
  readonly keyId: string;
  readonly bucket: string;
  readonly key: string;
  /** JSON of the transformation; null: that of the preset. */
  readonly transform: string | null;
  readonly preset: string | null;
  readonly endMs: number;
}

const tokensOf = ({ secrets }: Pick<Services, 'secrets'>) => new SignedTokens(secrets, 'image-links');

export function imageLink(core: Pick<Services, 'secrets' | 'baseUrl'>, link: ImageLink): string {
  const { accountId, keyId, bucket, key, transform, preset, endMs } = link;
  const token = tokensOf(core).write(KIND, [accountId, keyId, bucket, key, transform, preset, endMs]);
  return `${core.baseUrl}/v1/image/rendered/${token}`;
}

export const linkRoute: RawRoute<ImageState> = {
  name: 'image.link',
  methods: ['GET', 'HEAD'],
  path: '/v1/image/rendered/{token}',
  capability: null,
  stream: 'answer',
  bodyBytesMax: 1_024,
  answer,
};

async function answer(request: RawRequest, state: ImageState): Promise<RawAnswer> {
  const { core } = state;
  const link = readLink(core, request.params.token ?? '');
  const [principal, nowMs] = await Promise.all([ownerOf(core, link), clockNow(core.db)]);
  if (principal === null || link.endMs <= nowMs) throw problem('LINK_EXPIRED');
  await request.identify({ find: async () => principal });
  const transform = await transformOf(core, link);
  const { accountId, bucket, key } = link;
  const { row } = await findObject({ core, accountId }, { bucket, key: Buffer.from(key) });
  const id = renderedId(bucket, key, row.etag, JSON.stringify(transform));
  const rendered = (await findRendered(core.db, accountId, id)) ?? (await render(request, state, link, transform, id));
  const etag = `"${id}"`;
  const headers = {
    ...open,
    etag,
    'content-type': rendered.content_type,
    'cache-control': 'public, max-age=3600',
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: '' };
  return {
    status: 200,
    headers,
    body: { length: Number(rendered.bytes), etag, open: (start, end) => bytesOf(core, accountId, id, start, end) },
  };
}

function readLink(core: Services, token: string): ImageLink {
  const fields = tokensOf(core).read(KIND, token);
  if (fields === null) throw problem('LINK_EXPIRED');
  const [accountId, keyId, bucket, key, transform, preset, endMs] = fields;
  return { accountId, keyId, bucket, key, transform, preset, endMs: Number(endMs) } as ImageLink;
}

/** The key that made it, as it is now; null: it has ended, or belongs to another account by now. */
async function ownerOf({ keys }: Services, { accountId, keyId }: ImageLink): Promise<Principal | null> {
  const [current] = await keys.secretsOf(keyId);
  const found = current === undefined ? 'unknown' : await keys.findByHash(current);
  return typeof found === 'string' || found.accountId !== accountId ? null : found;
}

async function transformOf({ db }: Services, { accountId, transform, preset }: ImageLink): Promise<Transform> {
  if (transform !== null) return JSON.parse(transform);
  const row = await presetTable.find(db, { accountId }, preset ?? '');
  if (row === null) throw problem('NOT_FOUND', { message: 'The preset of the link was deleted.' });
  return row.transform;
}

/** Another process kept the same meanwhile: this one's work is not charged. */
class KeptMeanwhile extends Error {}

/** Requests that come while it is rendered here wait for the same. */
async function render(
  request: RawRequest,
  state: ImageState,
  link: ImageLink,
  transform: Transform,
  id: string,
): Promise<Rendered> {
  const name = `${link.accountId}\n${id}`;
  const known = state.rendering.get(name);
  if (known !== undefined) return known;
  const rendering = renderOnce(request, state, link, transform, id);
  state.rendering.set(name, rendering);
  try {
    return await rendering;
  } finally {
    state.rendering.delete(name);
  }
}

async function renderOnce(
  request: RawRequest,
  state: ImageState,
  link: ImageLink,
  transform: Transform,
  id: string,
): Promise<Rendered> {
  let rendered: Rendered | undefined;
  try {
    await request.perform(TRANSFORM, (ctx) =>
      chargeForAnswer(ctx, state.transforming, 1n, async () => {
        rendered = await rendering(ctx, state, link, transform, id);
        return 'null';
      }),
    );
  } catch (error) {
    if (!(error instanceof KeptMeanwhile)) throw error;
    rendered = (await findRendered(state.core.db, link.accountId, id)) ?? undefined;
  }
  if (rendered === undefined) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1_000 });
  return rendered;
}

async function rendering(
  ctx: CallContext,
  { core, images }: ImageState,
  { bucket, key }: ImageLink,
  transform: Transform,
  id: string,
): Promise<Rendered> {
  const bounds = { bytesMax: core.bounds.call.image.bytesMax, param: 'source' };
  const { bytes } = await readStored(ctx, { bucket, key }, bounds);
  const made = await images.transform(ctx, bytes, transform, 'source');
  ctx.holdMade(made.bytes.length);
  const rendered = { rendered_id: id, content_type: contentTypeOf(made.format), bytes: BigInt(made.bytes.length) };
  if (!(await keepRendered(core, ctx.accountId, rendered, made.bytes))) throw new KeptMeanwhile();
  return rendered;
}

async function* bytesOf({ assets, log }: Services, accountId: string, id: string, start: number, end: number) {
  const blocks = assets.open(renderedKey(accountId, id), start, end)[Symbol.asyncIterator]();
  try {
    let next = await available(log, () => blocks.next());
    for (; next.done !== true; next = await blocks.next()) yield next.value;
  } catch (error) {
    throw error instanceof AssetGone ? problem('NOT_FOUND', { message: 'The image is gone. Ask again.' }) : error;
  } finally {
    await blocks.return?.();
  }
}
