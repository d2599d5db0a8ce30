// What a call occupies from its first byte on, and when it ends: once its answer is written, or its client has left and nothing runs for it.
import type { FastifyReply } from 'fastify';
import type { AnsweringPlace, Call } from '../../gateway/call.ts';
import type { Place, Traffic } from '../../gateway/limits/traffic.ts';
import { answerOf } from '../http/answer.ts';
import { onClosed } from '../http/closed.ts';
import type { CallSlot } from './call-slot.ts';

export function occupy(traffic: Traffic, call: Call, slot: CallSlot, reply: FastifyReply, owner = ''): Place {
  const place = traffic.begin(owner);
  slot.call = call;
  slot.place = place;
  call.place = new OccupiedPlace(traffic, place);
  call.occupy(() => traffic.end(place));
  const answer = answerOf(reply);
  answer.occupied = call;
  // Of a client that leaves before its body is read, Fastify calls neither the handler nor the error handler.
  onClosed(answer, () => {
    slot.closed = true;
    if (slot.handling !== true) call.release();
  });
  return place;
}

/** From now on it is the account's. */
export function claim(traffic: Traffic, place: Place, call: Call, reply: FastifyReply): void {
  traffic.claim(place, call.accountId);
  answerOf(reply).owner = call.accountId;
}

/** A class, for the reason of ArrivedRequest. */
class OccupiedPlace implements AnsweringPlace {
  readonly #traffic: Traffic;
  readonly #place: Place;

  constructor(traffic: Traffic, place: Place) {
    this.#traffic = traffic;
    this.#place = place;
  }

  idle(): void {
    this.#traffic.idle(this.#place);
  }

  make(bytes: number): void {
    this.#traffic.make(this.#place, bytes);
  }

  made(bytes: number): void {
    this.#traffic.made(this.#place, bytes);
  }

  requireRoom(): void {
    this.#traffic.requireRoom(this.#place);
  }
}
