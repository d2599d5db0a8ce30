// Moves connections between processes. Each account has a home process, where its calls share commits and indexes. A connection that carries
// an account of another home moves there once, between two requests, and its next bytes are read there. Connections of proxies, which carry
// many accounts, do not move. A connection that stays works correctly, only slower.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The processes that answer behind the port. */
export interface Homes {
  /** The account's process; null when it is this one. */
  homeOf(accountId: string): Promise<number | null>;
  /** Hands the connection over, which ends here; resolves when it is there, or has ended. */
  move(socket: Socket, home: number): Promise<void>;
  /** Says who takes what the others hand over. */
  onMoved(take: (socket: Socket) => void): void;
}

/** Node's parser of a connection. Its hook tells that the first byte of a request has been read, which moves with nobody. */
interface Parser {
  readonly constructor: { readonly kOnMessageBegin?: number };
  [hook: number]: () => void;
}

export class Moves {
  readonly #homes: Homes;
  /** One at a time: the other process hears of each between its turns, and of all else after it. */
  #isMoving = false;

  constructor(homes: Homes) {
    this.#homes = homes;
  }

  /** Follows a connection that Node's server has taken; null where Node does not tell what it has read. */
  follow(socket: Socket): Move | null {
    const { parser } = socket as { parser?: Parser | null };
    const hook = parser?.constructor.kOnMessageBegin;
    if (!parser || hook === undefined) return null;
    const move = new Move();
    parser[hook] = () => {
      move.begun += 1;
    };
    return move;
  }

  /** A request of the account has been answered, and none waits behind it. */
  noteAnswered(
    move: Move,
    accountId: string,
    { socket, complete }: Pick<IncomingMessage, 'socket' | 'complete'>,
  ): void {
    if (move.home === undefined) {
      move.home = null;
      void this.#homes.homeOf(accountId).then((home) => {
        move.home = home;
      });
      return;
    }
    const isIdle = complete && move.begun === move.arrived && socket.writable && socket.writableLength === 0;
    if (move.home === null || this.#isMoving || !isIdle) return;
    this.#isMoving = true;
    void this.#homes.move(socket, move.home).then(() => {
      this.#isMoving = false;
    });
  }
}

/** Of one connection. */
export class Move {
  /** Requests whose first byte has been read. */
  begun = 0;
  /** Requests whose headers have been read. */
  arrived = 0;
  /** Null: it stays; undefined: nobody has asked. */
  home: number | null | undefined = undefined;
}
