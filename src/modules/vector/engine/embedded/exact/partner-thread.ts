// The partner of a searching thread: scans parts of the same memories, and waits blocked for the next task.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { PARTNER_AT } from '../kernel/kernel.ts';
import { ArenaView } from '../memory/arena.ts';
import { Board } from './board.ts';
import { Candidates } from './candidates.ts';
import type { PartnerData, ToPartner } from './partner.ts';
import { scanPart } from './scan.ts';

const { buffer, port } = workerData as PartnerData & { readonly port: MessagePort };
const board = new Board(buffer);
const arenas = new Map<number, ArenaView>();

/** Messages cannot arrive by themselves while the thread is blocked. */
function hear(): void {
  for (let heard = receiveMessageOnPort(port); heard !== undefined; heard = receiveMessageOnPort(port)) {
    const { number, memory } = heard.message as ToPartner;
    if (memory === null) arenas.delete(number);
    else arenas.set(number, new ArenaView(memory));
  }
}

function work(): void {
  const { scan, topK, partOf } = board.task();
  const candidates = new Candidates(topK);
  for (let part = board.take(); part !== undefined; part = board.take()) {
    const { arena, small, start, count } = partOf(part);
    scanPart({ arena: arenas.get(arena) as ArenaView, small, start, count }, scan, candidates, PARTNER_AT);
  }
  board.finish(candidates);
}

for (;;) {
  board.waitForTask();
  hear();
  work();
}
