// Limits of a connection to the SMTP port, of an address, and of all connections together.

/** Beyond: 421. All processes behind one port have them together. */
export const CONNECTIONS_MAX = 400;
export const CONNECTIONS_OF_ADDRESS_MAX = 20;
/** Recipients of one mail: 452, so that the client sends the rest by another one. Of a program that has logged in, those of email.send. */
export const RECIPIENTS_MAX = 100;
/** Recipients and logins that were refused: 421 and the end. Each costs a look at the database. */
export const REFUSALS_MAX = 20;
/** Mails by one connection: 421. */
export const MAILS_MAX = 1_000;
/** Bytes of mails that have arrived and are not yet kept, of all: 452. */
export const HELD_BYTES_MAX = 96 * 1024 * 1024;
/** Of one command line: 421. */
export const COMMAND_BYTES_MAX = 2_048;
/** Without a byte: 421. */
export const SILENCE_MS = 60_000;
/** For the bytes of one mail, and for a whole connection: 421. */
export const DATA_MS = 5 * 60_000;
export const CONNECTION_MS = 60 * 60_000;
/** At the stop, for mails that are being taken. */
export const CLOSE_MS = 5_000;
