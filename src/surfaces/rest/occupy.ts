// The resources of a request, occupied from its first byte. They are freed once its answer is written, or once its client has disconnected and
// no work runs for it.
import type { FastifyReply } from 'fastify';
import type { ActiveRequest, AnsweringPlace } from '../../gateway/active-request.ts';
import type { Place, Traffic } from '../../gateway/limits/traffic.ts';
import { answerOf, onClosed } from '../http/answer.ts';
import type { CallSlot } from './call-slot.ts';

export function occupy(traffic: Traffic, visit: ActiveRequest, slot: CallSlot, reply: FastifyReply, owner = ''): Place {
  const place = traffic.begin(owner);
  slot.place = place;
  visit.place = new OccupiedPlace(traffic, place);
  visit.occupy(() => traffic.end(place));
  const answer = answerOf(reply);
  answer.occupied = visit;
  // Of a client that leaves before its body is read, Fastify calls neither the handler nor the error handler.
  onClosed(answer, () => {
    slot.closed = true;
    if (slot.handling !== true) visit.release();
  });
  return place;
}

/** From now on it is the account's. */
export function claim(traffic: Traffic, place: Place, accountId: string, reply: FastifyReply): void {
  traffic.claim(place, accountId);
  answerOf(reply).owner = accountId;
}

/** A class, for the reason of ArrivedRequest. */
export class OccupiedPlace implements AnsweringPlace {
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

  countMade(bytes: number): void {
    this.#traffic.countMade(this.#place, bytes);
  }

  requireRoom(): void {
    this.#traffic.requireRoom(this.#place);
  }
}
