import { annotate } from '@longhand/shared/observe.ts';
import type { Context } from 'hono';
import type { ErrorCode } from '../expansion/errors.ts';
import { apiHeaders, baseHeaders, noStore, textResponse } from './responses.ts';

const statuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
  unsupported_scheme: 400,
  target_refused: 403,
  request_failed: 502,
  timeout: 504,
  overloaded: 503,
  // Only the log shows it: the client has left.
  aborted: 499,
};

type Failure = { code: ErrorCode; message: string } | null;

/** The status of a response that reports `error`, its headers, and the log's annotation. */
export function reportError(c: Context, error: Failure): { status: number; headers: Record<string, string> } {
  if (!error) return { status: 200, headers: {} };
  annotate(c, { error: error.code });
  // Seconds after which an overloaded expander is worth another try.
  return { status: statuses[error.code], headers: error.code === 'overloaded' ? { 'Retry-After': '1' } : {} };
}

/** The response of the API to a failure: its sentence. */
export function errorResponse(
  c: Context,
  error: NonNullable<Failure>,
  caching: Record<string, string> = noStore,
): Response {
  const { status, headers } = reportError(c, error);
  return textResponse(error.message, { status, headers: { ...apiHeaders, ...caching, ...headers } });
}

/** Answers every method that the path does not have. */
export function methodNotAllowed(allowed: string): () => Response {
  return () =>
    textResponse('Method Not Allowed', { status: 405, headers: { ...baseHeaders, Allow: allowed } });
}
