// The open sockets of this process: checked together once a second, counted by route, and closed one after the other at a stop.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Admission } from '../../core/admission.ts';
import type { Services } from '../../kit/services.ts';
import type { SocketEnd } from '../../kit/socket-route.ts';
import { SocketPace } from './pace.ts';
import { SocketPlaces } from './places.ts';
import { type Entitled, lookAtRights } from './rights.ts';

const STOP_STEP_MS = 50;

/** Why a socket ends: a reason of the service, or who or what has closed it. */
export type Ending = SocketEnd | 'module' | 'client' | 'protocol' | 'silent';

interface LiveSocket extends Entitled {
  look(nowMs: number): void;
  end(why: SocketEnd, reason: string): void;
  /** Without a farewell. */
  terminate(): void;
}

export class OpenSockets {
  readonly places: SocketPlaces;
  readonly pace: SocketPace;
  readonly bounds: Admission['webSocket'];
  readonly #open = new Set<LiveSocket>();
  readonly #gauge: Gauge<'route'>;
  readonly #ends: Counter<'route' | 'end'>;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #isStopped = false;

  constructor(registry: Registry, bounds: Admission) {
    this.bounds = bounds.webSocket;
    this.pace = new SocketPace(bounds.account.webSocketMessagesPerSecond);
    this.places = new SocketPlaces(bounds);
    const registers = [registry];
    this.#gauge = new Gauge({ name: 'qm_web_sockets', help: 'Open WebSockets.', labelNames: ['route'], registers });
    const help = 'WebSockets that have closed, by what closed them.';
    this.#ends = new Counter({ name: 'qm_web_sockets_closed_total', help, labelNames: ['route', 'end'], registers });
    const { bytes } = this.places;
    new Gauge({
      name: 'qm_web_socket_bytes',
      help: 'Bytes of half messages of WebSockets, and of messages that they have not read.',
      registers,
      collect() {
        this.set(bytes.taken);
      },
    });
  }

  /** No socket is accepted any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  add(socket: LiveSocket, route: string, core: Services): void {
    this.#open.add(socket);
    this.#gauge.inc({ route });
    this.#timer ??= setInterval(() => void this.#look(core), this.bounds.lookEveryMs).unref();
  }

  remove(socket: LiveSocket, route: string, end: Ending): void {
    this.#open.delete(socket);
    this.#gauge.dec({ route });
    this.#ends.inc({ route, end });
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Closes all of them, spread over some time, and ends those that do not answer to it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const { stopWithinMs, closeWithinMs } = this.bounds;
    const begunMs = performance.now();
    const open = [...this.#open];
    for (let closed = 0; closed < open.length; ) {
      const passed = Math.min(1, (performance.now() - begunMs + STOP_STEP_MS) / stopWithinMs);
      for (; closed < open.length * passed; closed += 1) open[closed]?.end('stop', 'The service restarts.');
      await sleep(STOP_STEP_MS);
    }
    const untilMs = performance.now() + closeWithinMs;
    while (this.#open.size > 0 && performance.now() < untilMs) await sleep(STOP_STEP_MS);
    for (const socket of this.#open) socket.terminate();
  }

  async #look(core: Services): Promise<void> {
    if (!this.#isLooking) void this.#lookAtRights(core);
    for (const socket of [...this.#open]) {
      if (this.pace.isOver) await turn();
      socket.look(performance.now());
    }
  }

  /** While the database is away nobody may do anything, and nobody is closed for it. */
  async #lookAtRights({ db, log }: Services): Promise<void> {
    this.#isLooking = true;
    try {
      await lookAtRights(db, [...this.#open]);
    } catch (error) {
      log.warn({ err: error }, 'who has WebSockets open could not be looked at');
    } finally {
      this.#isLooking = false;
    }
  }
}
