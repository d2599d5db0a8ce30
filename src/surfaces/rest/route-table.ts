// Answers for a path without a route: it takes other methods, its module is planned, or it does not exist.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notBuilt } from '../../manifest/planned/modules.ts';
import { type Problem, problem } from '../../problems/problem.ts';

interface Route {
  readonly method: string;
  readonly segments: readonly string[];
}

const SHOWN_CHARACTERS = 200;

/** Every route of the server counts, public documents included. */
export class RouteTable {
  readonly #routes: Route[] = [];
  readonly #planned: ReadonlySet<string>;

  /** `planned`: names of modules that are not built. */
  constructor(planned: ReadonlySet<string>) {
    this.#planned = planned;
  }

  add(methods: string | readonly string[], url: string): void {
    for (const method of [methods].flat()) this.#routes.push({ method, segments: url.split('/') });
  }

  /** The path of the route that this one is but for its last parameter. */
  #wholePath(method: string, path: string): string | null {
    const have = path.replace(/\/$/, '').split('/');
    const found = this.#routes.find(
      (route) =>
        route.method === method && isParameter(route.segments.at(-1)) && matches(route.segments.slice(0, -1), have),
    );
    return (
      found?.segments.map((segment) => (isParameter(segment) ? `{${segment.slice(1)}}` : segment)).join('/') ?? null
    );
  }

  /** Why the request is not served. Sets the Allow header where another method would be. */
  refusal(request: FastifyRequest, reply: FastifyReply): Problem {
    const path = request.url.split(/[?#]/, 1)[0] as string;
    const have = path.split('/');
    const there = this.#routes.filter(({ segments }) => matches(segments, have));
    const methods = [...new Set(there.map(({ method }) => method))];
    const shown = path.slice(0, SHOWN_CHARACTERS);
    if (methods.length > 0) {
      void reply.header('allow', methods.join(', '));
      return problem('METHOD_NOT_ALLOWED', { message: `${shown} takes ${methods.join(', ')}, not ${request.method}.` });
    }
    const [, version, module = ''] = have;
    if (version === 'v1' && this.#planned.has(module)) return notBuilt(module);
    const whole = this.#wholePath(request.method, path);
    if (whole !== null)
      return problem('NOT_FOUND', {
        message: `There is nothing at ${request.method} ${shown}: the path is ${whole}.`,
        didYouMean: whole,
      });
    return problem('NOT_FOUND', {
      message: `There is nothing at ${request.method} ${shown}. GET /v1/discovery lists every capability.`,
    });
  }
}

function isParameter(segment: string | undefined): boolean {
  return segment?.startsWith(':') === true;
}

function matches(want: readonly string[], have: readonly string[]): boolean {
  const isOpen = want.at(-1) === '*';
  if (isOpen && have.length >= want.length) return matches(want.slice(0, -1), have.slice(0, want.length - 1));
  return (
    want.length === have.length &&
    want.every((segment, i) => (segment.startsWith(':') ? have[i] !== '' : segment === have[i]))
  );
}
