// A named statement on the wire: the driver's own query, less what it does anew for every execution. A statement whose columns the
// connection has learned is not described again, and large values are not copied (see bind-message.ts).
import pg from 'pg';
import { bindMessage } from './bind-message.ts';
import type { EncodedValue } from './encode.ts';
import type { Statement } from './statement.ts';

interface Description {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number; readonly format: string }[];
}

/** What is used of the driver's connection. */
interface DriverConnection {
  readonly stream: { readonly writable: boolean; write(chunk: Buffer): boolean };
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: Statement): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(): void;
  sync(): void;
}

export interface DriverResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
  readonly command: string;
}

/** What is used of the driver's query, which its types leave out. */
interface DriverQuery {
  name: string;
  values: readonly EncodedValue[];
  callback: (error: Error | null, result: DriverResult) => void;
  hasBeenParsed(connection: DriverConnection): boolean;
  handleRowDescription(message: Description): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
}

// A configuration object would be cloned property by property: a text is not.
const BaseQuery = pg.Query as unknown as new (text: string) => DriverQuery;

/** A statement that is parsed anew each time, and may be another then. */
const UNNAMED = '';

/** Columns of the statements that each connection has described; none for a statement without rows. */
const described = new WeakMap<DriverConnection, Map<string, Description>>();
const noColumns: Description = { fields: [] };

class PreparedQuery extends BaseQuery {
  readonly #statement: Statement;
  #learning: Map<string, Description> | null = null;

  constructor(statement: Statement, values: readonly EncodedValue[], callback: DriverQuery['callback']) {
    super(statement.text);
    this.#statement = statement;
    this.name = statement.name;
    this.values = values;
    this.callback = callback;
  }

  /** Called by the driver when it is the query's turn, on a corked stream. */
  prepare(connection: DriverConnection): void {
    const { name, text } = this.#statement;
    if (!this.hasBeenParsed(connection)) {
      connection.parse({ name, text });
      if (name !== UNNAMED) connection.submittedNamedStatements[name] = text;
    }
    if (connection.stream.writable) {
      for (const chunk of bindMessage(name, this.values)) connection.stream.write(chunk);
    }
    const known = columnsOf(connection);
    const columns = known.get(name);
    if (columns === undefined) {
      if (name !== UNNAMED) this.#learning = known;
      connection.describe({ type: 'P' });
    } else if (columns !== noColumns) super.handleRowDescription(columns);
    connection.execute();
    connection.sync();
  }

  override handleRowDescription(message: Description): void {
    this.#learn(message);
    super.handleRowDescription(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    this.#learn(noColumns);
    super.handleCommandComplete(message, connection);
  }

  #learn(columns: Description): void {
    this.#learning?.set(this.name, columns);
    this.#learning = null;
  }
}

function columnsOf(connection: DriverConnection): Map<string, Description> {
  let known = described.get(connection);
  if (known === undefined) {
    known = new Map();
    described.set(connection, known);
  }
  return known;
}

/** Sends at once, behind what was sent before. Rejects with the PostgreSQL error. */
export function execute(
  client: pg.ClientBase,
  statement: Statement,
  values: readonly EncodedValue[],
): Promise<DriverResult> {
  return new Promise((resolve, reject) => {
    const query = new PreparedQuery(statement, values, (error, result) => (error ? reject(error) : resolve(result)));
    client.query(query as unknown as pg.Submittable);
  });
}
