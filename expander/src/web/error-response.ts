import { annotate } from '@longhand/shared/observe.ts';
import type { Context } from 'hono';
import type { ErrorCode, RateState } from '../expansion/errors.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { apiHeaders, baseHeaders, noStore, textResponse } from './responses.ts';

const statuses: Record<ErrorCode, number> = {
  invalid_url: 400,
  invalid_callback: 400,
  unsupported_scheme: 400,
  target_refused: 403,
  request_failed: 502,
  timeout: 504,
  rate_limited: 429,
  overloaded: 503,
  // Only the log shows it: the client has left.
  aborted: 499,
};

type Failure = Expansion['error'];

/** The status of a response that reports `error`, its headers, and the log's annotation. */
export function reportError(c: Context, error: Failure): { status: number; headers: Record<string, string> } {
  if (!error) return { status: 200, headers: {} };
  annotate(c, { error: error.code });
  const headers = error.rate ? rateFields(error.rate) : error.code === 'overloaded' ? trySoon : {};
  return { status: statuses[error.code], headers };
}

/** Seconds after which an overloaded expander is worth another try. */
const trySoon = { 'Retry-After': '1' };

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. */
const rateFields = ({ count, period, wait }: RateState) => ({
  'Retry-After': `${wait}`,
  'RateLimit-Policy': `"expansions";q=${count};w=${period}`,
  RateLimit: `"expansions";r=0;t=${wait}`,
});

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
