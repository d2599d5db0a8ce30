// Blocks written by the ingest calls of one commit: short calls of one account and span share a block.
import type { SentBlock } from '../../../blocks/send.ts';
import { BatchBuilder, type BatchPart, seriesId } from '../intake/batch.ts';
import { freshDraft, samplesKind } from '../samples/kind.ts';
import { joinSections, packSection, withoutSeries } from '../samples/section.ts';
import type { IngestAdmitted, Registration } from './registration.ts';

/** So many blocks a call may write, each with a sequence number: one a span of its samples, and of its differences. */
export function blockCount({
  parts,
  differences,
}: Pick<IngestAdmitted['item']['input']['batch'], 'parts' | 'differences'>) {
  const spans = new Set(differences.map(({ timeMs }) => Math.floor(timeMs / samplesKind.spanMs)));
  return parts.length + spans.size;
}

export function blocksOf(items: readonly IngestAdmitted[]): SentBlock[] {
  const blocks: SentBlock[] = [];
  const shared = new Map<string, { accountId: string; blockId: bigint; parts: BatchPart[] }>();
  for (const { item, context, firstSeq } of items) {
    const { accountId } = item;
    for (const [i, part] of partsOf(item, context).entries()) {
      const blockId = firstSeq + BigInt(i);
      if (part.packed !== null) {
        const { section, marks } = part.packed;
        const draft = { ...freshDraft(part, [], Buffer.from(section)), marks };
        blocks.push({ accountId, blockId, draft });
        continue;
      }
      const key = `${accountId} ${Math.floor(part.fromMs / samplesKind.spanMs)}`;
      const block = shared.get(key) ?? { accountId, blockId, parts: [] };
      block.parts.push(part);
      shared.set(key, block);
    }
  }
  for (const { accountId, blockId, parts } of shared.values()) {
    const section = joinSections(parts.map((part) => part.section));
    const times = {
      fromMs: Math.min(...parts.map(({ fromMs }) => fromMs)),
      toMs: Math.max(...parts.map(({ toMs }) => toMs)),
      records: parts.reduce((sum, { records }) => sum + records, 0),
    };
    blocks.push({ accountId, blockId, draft: freshDraft(times, section.ids, packSection(section)) });
  }
  return blocks;
}

function partsOf(item: IngestAdmitted['item'], context: Registration): readonly BatchPart[] {
  const { batch } = item.input;
  const sums = batch.differences.length === 0 ? [] : sumsOf(item, context);
  if (context.refused.size === 0) return [...batch.parts, ...sums];
  const refused = new Set(Array.from(context.refused, (place) => seriesId(batch, place)));
  const left = batch.parts.flatMap((part) => partWithout(part, refused));
  return [...left, ...sums];
}

/** Times stay as they are: a block may have fewer samples at its ends than it says. */
function partWithout(part: BatchPart, refused: ReadonlySet<string>): BatchPart[] {
  const section = withoutSeries(part.section, (id) => refused.has(id));
  if (section.ids.length === 0) return [];
  return [{ ...part, section, packed: null }];
}

/** Each difference as what all of its series have added up to, in the order in which they were sent. */
function sumsOf({ input: { batch } }: IngestAdmitted['item'], context: Registration): readonly BatchPart[] {
  const builder = new BatchBuilder(Number.POSITIVE_INFINITY);
  const [names, labels] = [batch.names.split('\n'), batch.labels.split('\n')];
  for (const { series, timeMs, value } of batch.differences) {
    if (context.refused.has(series)) continue;
    const state = context.stateOf(series);
    state.total = (state.total ?? 0) + value;
    const identity = { id: seriesId(batch, series), name: names[series] as string, labels: labels[series] as string };
    builder.add(builder.seriesOf(identity), timeMs, state.total, 0);
  }
  return builder.build(false).parts;
}
