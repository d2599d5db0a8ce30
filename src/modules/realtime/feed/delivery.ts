// Delivery of one message to all its subscribers in this process. Each wire form is encoded once for all of them. Its bytes count once in the
// unread total, however many subscribers hold them.
import { FairPlaces } from '../../../lib/fair-places.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import type { Message } from '../publish/message.ts';

type Form = (message: Message) => Buffer;

export class Delivery {
  readonly message: Message;
  /** Who holds bytes of it until their client reads on. */
  holders = 0;
  readonly #bytes = new Map<Form, Buffer>();

  constructor(message: Message) {
    this.message = message;
  }

  as(form: Form): Buffer {
    const made = this.#bytes.get(form) ?? form(this.message);
    this.#bytes.set(form, made);
    return made;
  }
}

/** What all deliveries of a process share: turns of the event loop, and bytes that wait for slow clients. */
export class Deliveries {
  /** Whoever delivers, or writes what was delivered, goes on only in its slice. */
  readonly slices = new TimeSlices();
  readonly #unread: FairPlaces;

  constructor(unreadBytesMax: number) {
    this.#unread = new FairPlaces(unreadBytesMax);
  }

  get unreadBytes(): number {
    return this.#unread.taken;
  }

  /** One more client of the account has not read these bytes of the message. False: there is no room for them. */
  hold(accountId: string, delivery: Delivery, bytes: number): boolean {
    if (delivery.holders === 0 && !this.#unread.take(accountId, bytes)) return false;
    delivery.holders += 1;
    return true;
  }

  letGo(accountId: string, delivery: Delivery, bytes: number): void {
    delivery.holders -= 1;
    if (delivery.holders === 0) this.#unread.release(accountId, bytes);
  }
}
