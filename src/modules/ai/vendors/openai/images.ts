// Fetches pictures that a request names by URL, for vendors that fetch none themselves: through the outbound guard, limited in number and bytes.
import { isObject, objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { readBytes } from '../asking.ts';
import type { AiCall } from '../port.ts';

const IMAGES_MAX = 10;
const BYTES_MAX = 10 * 1024 * 1024;
/** Of all of a request. */
const TOTAL_BYTES_MAX = 24 * 1024 * 1024;
const FETCH_MS = 15_000;
const TYPES = /^image\/(png|jpeg|gif|webp)\b/i;

/** The messages with data in place of URLs, or why that is not to be had. */
export async function withImages(call: AiCall, messages: unknown): Promise<{ messages: unknown } | { fault: string }> {
  const urls = new Set(objectsOf(messages).flatMap(partsOf).flatMap(urlOf));
  if (urls.size > IMAGES_MAX) return { fault: `A request has at most ${IMAGES_MAX} images by URL.` };
  const found = new Map<string, string>();
  let left = TOTAL_BYTES_MAX;
  for (const url of urls) {
    const image = await fetchImage(call, url, left);
    if (image === 'too long')
      return { fault: 'The images of a request that are named by URL have at most 24 MiB together.' };
    if (image === null)
      return { fault: 'An image could not be fetched: it must be a public PNG, JPEG, GIF or WebP of at most 10 MiB.' };
    left -= image.bytes;
    found.set(url, image.data);
  }
  if (found.size === 0) return { messages };
  const inlined = objectsOf(messages).map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part) => inline(part, found)) }
      : message,
  );
  return { messages: inlined };
}

function partsOf({ content }: WireObject): readonly WireObject[] {
  return objectsOf(content);
}

function urlOf({ image_url: image }: WireObject): string[] {
  const url = isObject(image) ? image.url : image;
  return typeof url === 'string' && /^https?:/i.test(url) ? [url] : [];
}

function inline(part: unknown, found: ReadonlyMap<string, string>): unknown {
  if (!isObject(part)) return part;
  const data = urlOf(part).map((url) => found.get(url))[0];
  if (data === undefined) return part;
  return { ...part, image_url: isObject(part.image_url) ? { ...part.image_url, url: data } : data };
}

interface Image {
  readonly data: string;
  readonly bytes: number;
}

/** `bytesLeft`: of the request. What an image says of its length is held before it is read; one that says nothing may have all. */
async function fetchImage(call: AiCall, url: string, bytesLeft: number): Promise<Image | 'too long' | null> {
  const limits = { firstByteMs: FETCH_MS, idleMs: FETCH_MS, totalMs: FETCH_MS, answerBytesMax: BYTES_MAX };
  const reply = await call.outbound.send({ method: 'GET', url, redirectsMax: 3, limits, signal: call.signal });
  if (reply.kind === 'failed') return null;
  const { body, headers, status } = reply;
  try {
    const type = TYPES.exec(headers['content-type'] ?? '')?.[0];
    if (status !== 200 || type === undefined) return null;
    const bytesMax = Math.min(Number(headers['content-length'] ?? BYTES_MAX), BYTES_MAX);
    if (bytesMax > bytesLeft) return 'too long';
    call.holdPicture(bytesMax);
    const bytes = await readBytes(body, bytesMax);
    return bytes === null ? null : { data: `data:${type};base64,${bytes.toString('base64')}`, bytes: bytes.length };
  } finally {
    body.destroy();
  }
}
