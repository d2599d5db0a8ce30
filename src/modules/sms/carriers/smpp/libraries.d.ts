// Types for the used parts of smpp 0.5.1, which ships none.
declare module 'smpp' {
  import type { EventEmitter } from 'node:events';
  import type { Server as NetServer, Socket } from 'node:net';

  export interface Pdu {
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly message_id?: string;
    readonly source_addr?: string;
    readonly destination_addr?: string;
    readonly esm_class?: number;
    readonly data_coding?: number;
    readonly short_message?: { readonly message?: string | Buffer; readonly udh?: readonly Buffer[] };
    readonly message_payload?: { readonly message?: string | Buffer; readonly udh?: readonly Buffer[] } | string;
    readonly receipted_message_id?: string;
    readonly message_state?: number;
    readonly sar_msg_ref_num?: number;
    readonly sar_total_segments?: number;
    readonly sar_segment_seqnum?: number;
    readonly system_id?: string;
    readonly password?: string;
    response(fields?: Readonly<Record<string, unknown>>): Pdu;
  }

  type Fields = Readonly<Record<string, unknown>>;

  export interface Session extends EventEmitter {
    readonly socket: Socket;
    send(pdu: Pdu): boolean;
    bind_transceiver(fields: Fields, answered: (pdu: Pdu) => void): boolean;
    submit_sm(fields: Fields, answered: (pdu: Pdu) => void): boolean;
    deliver_sm(fields: Fields, answered?: (pdu: Pdu) => void): boolean;
    enquire_link(fields: Fields, answered: (pdu: Pdu) => void): boolean;
    unbind(fields: Fields, answered: (pdu: Pdu) => void): boolean;
    close(closed?: () => void): void;
    destroy(destroyed?: () => void): void;
  }

  export interface Server extends NetServer {
    readonly sessions: Session[];
  }

  interface Smpp {
    connect(options: { readonly url: string; readonly [option: string]: unknown }): Session;
    createServer(
      options: { readonly key?: string; readonly cert?: string },
      session: (session: Session) => void,
    ): Server;
    readonly encodings: Readonly<
      Record<'ASCII' | 'UCS2', { encode(text: string): Buffer; decode(bytes: Buffer): string }>
    >;
  }
  const smpp: Smpp;
  // biome-ignore lint/style/noDefaultExport: the package has no other
  export default smpp;
}
