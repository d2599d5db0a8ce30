// Plain-data descriptions of the Server-Sent Events streams that modules add as raw routes, for discovery, OpenAPI and the documents for agents.
import { moduleOf } from '../core/callers/scopes.ts';
import type { Capability } from '../kit/capability.ts';
import type { Module } from '../kit/module.ts';
import { asJsonSchema, type JsonSchema } from './json-schema.ts';

export interface StreamDescription {
  readonly id: string;
  readonly module: string;
  readonly method: 'GET';
  readonly path: string;
  readonly summary: string;
  /** A scope that is just enough. */
  readonly scope: string;
  /** What the data of an event is. */
  readonly event: string;
  readonly query_schema: JsonSchema;
}

export function streamsOf(modules: readonly Module[]): StreamDescription[] {
  return modules.flatMap(({ name, rawRoutes = [] }) =>
    rawRoutes.flatMap((route) => {
      const { eventStream: told } = route;
      if (told === undefined) return [];
      const of = route.capability ?? told.reads ?? route.name;
      return [
        {
          id: route.name,
          module: name,
          method: 'GET',
          path: route.path,
          summary: told.summary,
          scope: `${moduleOf(of)}:read`,
          event: told.event,
          query_schema: asJsonSchema(told.query),
        } as const,
      ];
    }),
  );
}

/** Its query as the input of a call, for what tells fields in words. */
export function queryOf({
  path,
  query_schema,
}: StreamDescription): Pick<Capability, 'method' | 'path' | 'input' | 'idempotent'> {
  return { method: 'GET', path, input: query_schema as unknown as Capability['input'], idempotent: false };
}
