// Downloads files that a vendor made. The key is sent to the vendor's own origin only. `assetHosts` may be private; every other URL, and each
// redirect, passes the guard. The file type is read from its first bytes, not from its name: an error page is no video.
import type { Readable } from 'node:stream';
import type { OutboundFailure } from '../http/port.ts';
import type { JobDownload } from './job.ts';
import type { VendorCall } from './port.ts';

/** Signed addresses are long. */
export const URL_CHARACTERS_MAX = 8_000;
const FILE_BYTES_MAX = 2 * 1024 ** 3;
const REDIRECTS_MAX = 3;
/** Only a fresh URL may help. */
const GONE = new Set([401, 403, 404, 410]);
const FOR_NOW = new Set([408, 425, 429]);
/** The same file will not become another one. */
const FOR_GOOD: ReadonlySet<OutboundFailure> = new Set(['refused', 'protocol']);

type ContentType = Extract<JobDownload, { kind: 'opened' }>['contentType'];

/** Opens a file; once its first bytes are known the rest streams as fast as it is read. */
export async function fetchFile(
  call: VendorCall,
  credentials: Readonly<Record<string, string>>,
  url: string,
): Promise<JobDownload> {
  const { connectMs, downloadMs, idleMs } = call.timeouts;
  const reply = await call.outbound.send({
    method: 'GET',
    url,
    credentials,
    operator: { origin: call.baseUrl, assetHosts: call.assetHosts },
    redirectsMax: REDIRECTS_MAX,
    limits: { connectMs, firstByteMs: idleMs, idleMs, totalMs: downloadMs, answerBytesMax: FILE_BYTES_MAX },
    signal: call.signal,
  });
  if (reply.kind === 'failed') return { kind: FOR_GOOD.has(reply.code) ? 'unsound' : 'again', message: reply.message };
  const { status, body } = reply;
  const sizeBytes = sizeOf(reply.headers['content-length']);
  if (status !== 200 || (sizeBytes ?? 0) > FILE_BYTES_MAX) {
    body.destroy();
    return status === 200 ? TOO_LONG : { kind: kindOf(status), message: `The vendor's file answers ${status}.` };
  }
  return openDownload(body, sizeBytes);
}

const TOO_LONG: JobDownload = { kind: 'unsound', message: "The vendor's file has more than 2 GiB." };

function kindOf(status: number): 'again' | 'gone' | 'unsound' {
  if (GONE.has(status)) return 'gone';
  return status >= 500 || FOR_NOW.has(status) ? 'again' : 'unsound';
}

function sizeOf(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

async function openDownload(body: Readable, sizeBytes: number | null): Promise<JobDownload> {
  const head = await peek(body);
  const contentType = head === null ? null : contentTypeOf(head);
  if (contentType !== null) return { kind: 'opened', contentType, sizeBytes, body };
  const failure = body.errored;
  body.destroy();
  if (failure !== null) return { kind: 'again', message: "The vendor's file broke off." };
  return { kind: 'unsound', message: "The vendor's file is neither a video nor an image." };
}

/** As many bytes as the longest signature needs; they stay in the stream. Null when there are fewer. */
async function peek(body: Readable): Promise<Buffer | null> {
  let head = Buffer.alloc(0);
  while (head.length < SIGNATURE_BYTES) {
    const chunk: Buffer | null = body.read();
    if (chunk !== null) head = Buffer.concat([head, chunk]);
    else if (body.readableEnded || body.destroyed) return null;
    else await change(body);
  }
  body.unshift(head);
  return head;
}

function change(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close'] as const;
    const settle = () => {
      for (const event of events) body.off(event, settle);
      resolve();
    };
    for (const event of events) body.on(event, settle);
  });
}

const SIGNATURE_BYTES = 12;
/** Of the first box of an MP4 (ISO 14496-12) and its older kin. */
const MP4_BOXES = new Set(['ftyp', 'styp', 'moov', 'mdat', 'free', 'skip', 'wide']);

function contentTypeOf(head: Buffer): ContentType | null {
  const text = head.toString('latin1', 0, SIGNATURE_BYTES);
  if (MP4_BOXES.has(text.slice(4, 8))) return 'video/mp4';
  if (text.startsWith('\x1aE\xdf\xa3')) return 'video/webm';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('\x89PNG')) return 'image/png';
  return text.startsWith('RIFF') && text.endsWith('WEBP') ? 'image/webp' : null;
}
