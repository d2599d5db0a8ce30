// What a remote write is read as: series by the bytes of their labels, and samples in the order of time whatever the order of the body.
import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { ByteReader } from '../../../blocks/bytes.ts';
import { readChunk } from '../samples/chunk.ts';
import { chunksOf } from '../samples/section.ts';
import { readRemoteWrite } from './remote-write.ts';

const NOW_MS = 1_790_000_000_000;
type Field = readonly [label: string, value: string] | readonly [timeMs: number, value: number];

function body(...series: readonly (readonly Field[])[]): Buffer {
  const out = protobuf.Writer.create();
  for (const fields of series) {
    out.uint32(10).fork();
    for (const [one, other] of fields) {
      if (typeof one === 'string')
        out.uint32(10).fork().uint32(10).string(one).uint32(18).string(String(other)).ldelim();
      else out.uint32(18).fork().uint32(9).double(Number(other)).uint32(16).int64(one).ldelim();
    }
    out.ldelim();
  }
  return Buffer.from(out.finish());
}

function read(...series: readonly (readonly Field[])[]) {
  const batch = readRemoteWrite(body(...series), NOW_MS);
  const samples = batch.parts.flatMap(({ section }) =>
    Array.from(chunksOf(section), ([, chunk]) => {
      const { times, values } = readChunk(new ByteReader(chunk));
      return Array.from(times, (time, i) => [time - NOW_MS, values[i]]);
    }),
  );
  return { labels: batch.labels, names: batch.names, samples, refused: batch.refused.map(({ reason }) => reason) };
}

const up: Field[] = [
  ['__name__', 'up'],
  ['job', 'a'],
];

test('labels that were read before name the same series, wherever they stand', () => {
  const due = { labels: '{"job":"a"}', names: 'up', samples: [[[0, 1]]], refused: [] };
  for (let round = 0; round < 2; round += 1) {
    expect(read([...up, [NOW_MS, 1]])).toEqual(due);
    expect(read([...up.toReversed(), [NOW_MS, 1]])).toEqual(due);
    expect(read([[NOW_MS, 1], ...up])).toEqual(due);
    expect(read([up[0] as Field, [NOW_MS, 1], up[1] as Field])).toEqual(due);
    expect(
      read([
        ['job', 'a'],
        [NOW_MS, 1],
      ]).refused,
    ).toEqual(['it has no name']);
    expect(read([...up, ['job', 'b'], [NOW_MS, 1]]).refused).toEqual(['the label job comes twice']);
  }
});

test('samples of a series come in the order of time, and of equal times the last that was sent counts', () => {
  const other: Field[] = [['__name__', 'down']];
  const sent = read(
    [...up, [NOW_MS, 1], [NOW_MS - 5, 2]],
    [...other, [NOW_MS, 7]],
    [...up, [NOW_MS, 3], [NOW_MS - 9, 4]],
  );
  expect(sent.names).toBe('up\ndown');
  expect(sent.samples).toEqual([
    [
      [-9, 4],
      [-5, 2],
      [0, 3],
    ],
    [[0, 7]],
  ]);
});
