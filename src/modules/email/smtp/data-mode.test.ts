// What smtp-server reads of a mail by our reader is what it reads by its own, wherever the network cuts it.
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMailByPieces } from './data-mode.ts';

const libraryFeed = SMTPStream.prototype._feedDataStream;
beforeAll(readMailByPieces);
afterAll(() => {
  SMTPStream.prototype._feedDataStream = libraryFeed;
});

interface Read {
  readonly mail: string;
  readonly commands: readonly string[];
  readonly writes: number;
}

/** Reads `pieces` as one mail and what is behind it. */
async function read(pieces: readonly Buffer[], feed = SMTPStream.prototype._feedDataStream): Promise<Read> {
  const commands: string[] = [];
  const parser = new SMTPStream();
  parser._feedDataStream = feed;
  parser.oncommand = (command, callback) => {
    commands.push(String(command));
    callback?.();
  };
  const stream = parser.startDataMode(100_000_000);
  let mail = '';
  let writes = 0;
  const taken = new Writable({
    write(piece, _encoding, done) {
      mail += piece.toString('latin1');
      writes += 1;
      done();
    },
  });
  stream.pipe(taken);
  stream.once('end', () => parser.continue());
  for (const piece of pieces) if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve));
  parser.end();
  await finished(parser);
  if (!stream.writableEnded) stream.destroy();
  else await finished(taken);
  return { mail, commands, writes };
}

const cut = (bytes: Buffer, lengths: readonly number[]) => {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const length = lengths[i % lengths.length] as number;
    pieces.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length;
  }
  return pieces;
};

const mails = [
  '.\r\nQUIT\r\n',
  '..\r\n.\r\nQUIT\r\n',
  '..\r\n..\r\n...\r\n.\r\nQUIT\r\n',
  '.x\r\n.\r\nNOOP\r\nQUIT\r\n',
  'a\r\n\r\n..b\r\n.c\r\n..\r\n.\r\nQUIT\r\n',
  'a\n.\r\nb\r\n.\nc\r\n.\rd\r\n.\r\nQUIT\r\n',
  '\r\n.\r\nQUIT\r\n',
  '\n..\n.\r\n\r\n.\r\n',
  'a\r\n..\r\n.\r\n.\r\nQUIT\r\n',
  '..\r\n.',
];

test.each(mails)('%j is read as the library reads it, in pieces of every length', async (text) => {
  const bytes = Buffer.from(text, 'latin1');
  for (let length = 1; length <= bytes.length; length += 1) {
    const { mail, commands } = await read(cut(bytes, [length]));
    const expected = await read(cut(bytes, [length]), libraryFeed);
    expect({ length, mail, commands }).toEqual({ length, mail: expected.mail, commands: expected.commands });
  }
});

test('1,000 mails of dots and line ends, cut by chance, are read as the library reads them', async () => {
  let seed = 7;
  const chance = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 1_000; round += 1) {
    const text = Array.from(
      { length: 1 + chance(24) },
      () => ['.', '..', '\r\n', '\r\n.', '\n', 'a', '\r'][chance(7)],
    ).join('');
    const lengths = [1 + chance(6), 1 + chance(9)];
    const pieces = () => cut(Buffer.from(`${text}\r\n.\r\nQUIT\r\n`), lengths);
    const { mail, commands } = await read(pieces());
    const expected = await read(pieces(), libraryFeed);
    expect({ text, mail, commands }).toEqual({ text, mail: expected.mail, commands: expected.commands });
  }
});

test('lines of dots are one write for each 8 KiB of the network', async () => {
  const bytes = Buffer.from(`${'..\r\n'.repeat(50_000)}.\r\n`);
  const { mail, writes } = await read(cut(bytes, [64 * 1024]));
  expect(mail).toBe('.\r\n'.repeat(50_000));
  expect(writes).toBeLessThanOrEqual(Math.ceil(bytes.length / (8 * 1024)) + 1);
});
