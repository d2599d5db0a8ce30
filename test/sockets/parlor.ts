// A module whose routes take WebSockets: one by a key in the head, one by a key in the first message, and one for pages of any site.
import { Type } from 'typebox';
import { secretCredential } from '../../src/core/credentials/credential.ts';
import { bearer } from '../../src/core/credentials/http-schemes.ts';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { RawSocket, SocketHead, SocketListener, SocketRoute } from '../../src/kit/socket-route.ts';
import { Problem } from '../../src/problems/problem.ts';

export interface ParlorState {
  /** What was said, in order. */
  readonly said: string[];
  readonly open: Set<RawSocket>;
  readonly closed: number[];
  /** What `wait` waits for. */
  gate: Promise<void>;
}

export const emptyParlor = (): ParlorState => ({ said: [], open: new Set(), closed: [], gate: Promise.resolve() });

const listen = defineCapability<ParlorState>()({
  method: 'GET',
  path: '/v1/parlor/listen',
  summary: 'Listens.',
  description: 'Listens.',
  input: Type.Object({}),
  output: Type.Object({}),
  examples: [],
  run: () => Promise.reject(new Error('only its sockets are used')),
});

/** Says again what it is told, and does as it is told. */
function listener(socket: RawSocket, head: SocketHead, state: ParlorState): SocketListener {
  state.open.add(socket);
  return {
    async message(message) {
      const text = String(message);
      state.said.push(text.slice(0, 100));
      const [what, more = ''] = text.split(' ');
      if (what === 'wait') await state.gate;
      if (what === 'boom') throw new Error('the parlor burns');
      if (what === 'bye') socket.close(4001, 'as you wish');
      else if (what === 'send') socket.send(Buffer.alloc(Number(more)), 'text');
      else if (what === 'where') socket.send(JSON.stringify([head.params, head.query.get('q'), socket.protocol]));
      else if (what === 'who') socket.send(socket.principal?.id ?? 'nobody');
      else if (what === 'call') socket.send((await socket.invoke(more, {})).envelope);
      else if (what === 'key') socket.send(await identified(socket, more));
      else socket.send(message);
    },
    onClose(code) {
      state.open.delete(socket);
      state.closed.push(code);
    },
  };
}

async function identified(socket: RawSocket, secret: string): Promise<string> {
  try {
    return (await socket.identify(secretCredential(secret))).id;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

const room: SocketRoute<ParlorState> = {
  name: 'parlor.room',
  path: '/parlor/{room}',
  capability: 'parlor.listen',
  credentialOf: (head) => {
    const token = head.query.get('token');
    return token === null ? bearer(head) : secretCredential(token);
  },
  open: listener,
};

const later: SocketRoute<ParlorState> = {
  name: 'parlor.later',
  path: '/parlor-later',
  capability: 'parlor.listen',
  identifiesLater: true,
  open: listener,
};

const market: SocketRoute<ParlorState> = {
  name: 'parlor.market',
  path: '/parlor-market',
  capability: null,
  protocols: ['fair', 'loud'],
  anyOrigin: true,
  messageBytesMax: 256,
  closeCodes: { flood: 4301 },
  credentialOf: bearer,
  open: async (socket, head, state) => {
    await state.gate;
    return listener(socket, head, state);
  },
};

export function parlorModule(state: ParlorState) {
  return defineModule<ParlorState>({
    name: 'parlor',
    summary: 'WebSockets.',
    status: 'beta',
    capabilities: [listen],
    socketRoutes: [room, later, market],
    start: () => state,
  });
}
