import { EventEmitter } from 'node:events';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Traffic } from '../../gateway/limits/traffic.ts';
import type { Answer } from './answer.ts';
import { UnreadAnswers } from './unread-answers.ts';

test('an answer that follows at once on its connection is counted for itself', () => {
  const traffic = new Traffic(new Registry());
  const unread = new UnreadAnswers(traffic);
  const socket = { writableLength: 0, destroy: () => undefined };
  const answer = () => Object.assign(new EventEmitter(), { socket, owner: 'a' }) as unknown as Answer;
  const [first, second] = [answer(), answer()];
  // As the next call of a connection begins.
  first.once('close', () => {
    socket.writableLength = 10;
    unread.add(second);
  });
  socket.writableLength = 1_000;
  unread.add(first);
  expect(traffic.answers.taken).toBe(1_000);
  first.emit('close');
  expect(traffic.answers.taken).toBe(10);
  second.emit('close');
  expect(traffic.answers.taken).toBe(0);
});
