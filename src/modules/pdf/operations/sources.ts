// Reads the source PDFs of a call, for the hand-over to a thread.

import { readSource, type Source } from '../../../files/source.ts';
import { decodedSource } from '../../../kit/file-fields.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField } from '../../../problems/problem.ts';
import { FILE_BYTES_MAX } from '../limits.ts';

/** Its bytes in memory of their own. Throws what `readSource` does. */
export async function readPdf(ctx: CallContext, source: Source, { param = 'source', isFree = false } = {}) {
  const { bytes } = await readSource(ctx, source, { bytesMax: FILE_BYTES_MAX, param, isFree });
  return bytes.length === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

/** One after the other, so that what they have together is bounded. */
export async function readPdfs(ctx: CallContext, sources: readonly Source[]): Promise<Uint8Array[]> {
  const read: Uint8Array[] = [];
  let left = FILE_BYTES_MAX;
  for (const [index, source] of sources.entries()) {
    const bytes = await readPdf(ctx, source, { param: `sources[${index}]` });
    left -= bytes.length;
    if (left < 0) throw invalidField('sources', 'too_large', 'The sources have more than 20 MiB together.');
    read.push(bytes);
  }
  return read;
}

/** For `bulk`: the source with its bytes in place of base64. */
export function withBytes<Input extends { readonly source: Source }>(input: Input) {
  const { source, transfer } = decodedSource(input.source as Parameters<typeof decodedSource>[0], 'source');
  return { value: { ...input, source }, transfer };
}

export function withAllBytes<Input extends { readonly sources: readonly Source[] }>(input: Input) {
  const decoded = input.sources.map((source, index) =>
    decodedSource(source as Parameters<typeof decodedSource>[0], `sources[${index}]`),
  );
  const transfer = decoded.flatMap((each) => each.transfer);
  return { value: { ...input, sources: decoded.map(({ source }) => source) }, transfer };
}
