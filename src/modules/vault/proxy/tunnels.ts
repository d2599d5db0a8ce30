// Tunnels to hosts of no connection (VAULT_OTHERS): bytes pass unread, to public addresses alone. A tunnel ends when it is idle, and when its
// principal has ended.
import type { Socket } from 'node:net';
import type { Admission } from '../../../core/admission.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import type { OutboundClient } from '../../../vendors/http/port.ts';
import type { Authority } from './authority.ts';
import { placeOf } from './places.ts';
import { ProxyRefusal, tooManyAtOnce } from './refusal.ts';

export class Tunnels {
  readonly #outbound: Pick<OutboundClient, 'openTunnel'>;
  readonly #bounds: Admission['proxy'];
  readonly #places: FairPlaces;
  readonly #open = new Map<Socket, Principal>();
  #looking: NodeJS.Timeout | undefined;

  constructor(outbound: Pick<OutboundClient, 'openTunnel'>, bounds: Admission['proxy']) {
    this.#outbound = outbound;
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.tunnelsMax);
  }

  /** Connects; then calls `begin` and passes bytes on. Throws ProxyRefusal. */
  async open(client: Socket, principal: Principal, to: Authority, begin: () => void): Promise<void> {
    const place = placeOf(this.#places, principal.accountId);
    if (place === null) throw tooManyAtOnce('This account has too many tunnels: close some.');
    const gone = new AbortController();
    const leave = () => gone.abort();
    client.once('close', leave);
    try {
      const reply = await this.#outbound.openTunnel({ ...to, isPublicOnly: true, signal: gone.signal });
      if (reply.kind === 'failed') throw refusalOf(reply.code, reply.message);
      reply.socket.on('error', () => client.destroy()).once('close', place.release);
      if (client.destroyed) return void reply.socket.destroy();
      begin();
      this.#pass(client, reply.socket, principal);
    } catch (error) {
      place.release();
      throw error;
    } finally {
      client.off('close', leave);
    }
  }

  close(): void {
    clearInterval(this.#looking);
    for (const client of this.#open.keys()) client.destroy();
  }

  #pass(client: Socket, far: Socket, principal: Principal): void {
    this.#open.set(client, principal);
    this.#looking ??= setInterval(() => void this.#look(), this.#bounds.tunnelLookEveryMs).unref();
    // Each byte passes both: the time of one is that of the tunnel.
    client.setTimeout(this.#bounds.tunnelIdleMs, () => client.destroy());
    client.once('close', () => {
      this.#open.delete(client);
      far.destroy();
    });
    far.once('close', () => client.destroySoon());
    // A pipe hands on the end of one side alone.
    client.pipe(far);
    far.pipe(client);
  }

  async #look(): Promise<void> {
    for (const [client, principal] of this.#open) {
      const now = await principal.kind.again(principal).catch(() => principal);
      if (typeof now === 'string' || now.suspended) client.destroy();
    }
  }
}

function refusalOf(code: string, message: string): ProxyRefusal {
  if (code === 'refused') return new ProxyRefusal(403, 'TARGET_REJECTED', message);
  return new ProxyRefusal(code === 'timeout' ? 504 : 502, 'TARGET_FAILED', message);
}
