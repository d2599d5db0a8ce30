// Converts Fastify's own errors to Problems of the catalogue.
import { problem } from '../../problems/problem.ts';

/** Other errors come back as they are. `bodyBytesMax` is named when the body was too large. */
export function fromFastifyError(error: unknown, bodyBytesMax: number): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('PAYLOAD_TOO_LARGE', {
        message: `The body may have at most ${bodyBytesMax} bytes.`,
        cause: error,
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return problem('UNSUPPORTED_MEDIA_TYPE', { cause: error });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('INVALID_REQUEST', { message: 'The body is not as long as Content-Length says.', cause: error });
    case 'FST_ERR_BAD_URL':
      return problem('INVALID_REQUEST', { message: 'The path is not validly percent-encoded.', cause: error });
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return problem('NOT_FOUND', { cause: error });
    case 'ECONNRESET':
      // Of the client's connection only when Fastify was reading the body, which it marks so; else of a connection to the database.
      if ((error as { statusCode?: unknown }).statusCode !== 400) return error;
      return problem('INVALID_REQUEST', {
        message: 'The connection ended before the body was complete.',
        cause: error,
      });
    default:
      return error;
  }
}
