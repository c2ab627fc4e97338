/** Why an expansion failed: stable, for programs. No client sees `aborted`: it has left. */
export type ErrorCode =
  | 'invalid_url'
  | 'invalid_callback'
  | 'unsupported_scheme'
  | 'target_refused'
  | 'request_failed'
  | 'timeout'
  | 'overloaded'
  | 'rate_limited'
  | 'aborted';

/** A failure with a stable code and one plain ASCII sentence for people. */
export class ExpansionError extends Error {
  readonly code: ErrorCode;
  readonly rate?: RateState;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a client may have: `count` expansions in `period` seconds, the next one in `wait` seconds. */
export interface RateState {
  count: number;
  period: number;
  wait: number;
}

/** A client has caused as many expansions as it may. */
export class RateLimited extends ExpansionError {
  override readonly rate: RateState;

  constructor(rate: RateState) {
    super('rate_limited', `Too many expansions from your address; try again in ${rate.wait} s.`);
    this.rate = rate;
  }
}

/** @throws `error` unless it is an ExpansionError: anything else is a bug. */
export function expansionError(error: unknown): ExpansionError {
  if (error instanceof ExpansionError) return error;
  throw error;
}

/** The error for work that was cancelled: the signal's reason if that is an ExpansionError. */
export function aborted(reason: unknown): ExpansionError {
  if (reason instanceof ExpansionError) return reason;
  return new ExpansionError('aborted', 'The client has left.', { cause: reason });
}

/** The error for work beyond a limit. */
export function overloaded(what: string): ExpansionError {
  return new ExpansionError('overloaded', `${what}; try again soon.`);
}
