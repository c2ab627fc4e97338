/** Cache lifetimes of errors in seconds, by code; 0 if the URL did not cause the error. */
export const errorLifetimes = {
  invalid_url: 30,
  invalid_callback: 30,
  invalid_argument: 30,
  unsupported_scheme: 30,
  target_refused: 30,
  request_failed: 30,
  timeout: 10,
  overloaded: 0,
  rate_limited: 0,
  unknown_key: 0,
  /** The client has disconnected, so only the log shows this code. */
  aborted: 0,
};

/** A stable machine-readable reason for a failed expansion. */
export type ErrorCode = keyof typeof errorLifetimes;

/** All codes that responses can contain. */
export const errorCodes = (Object.keys(errorLifetimes) as ErrorCode[]).filter((code) => code !== 'aborted');

/** A stable code that is more specific than the error code. */
export type ErrorReason =
  | ('not_a_url' | 'too_long')
  | ('private_address' | 'credentials' | 'port')
  | ('unknown_name' | 'certificate');

export interface ErrorFacts {
  reason?: ErrorReason;
  /** The error code of Node or OpenSSL, such as `CERT_HAS_EXPIRED`. */
  detail?: string;
  /** Set only if the code is `rate_limited`. */
  rate?: RateState;
}

/** OpenSSL's error if a website sends only its own certificate, and no known authority has issued it. */
export const incompleteChain = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';

/** An error with a stable code and an ASCII sentence for the user. */
export class ExpansionError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, { cause, ...facts }: ErrorOptions & ErrorFacts = {}) {
    super(message, { cause });
    this.code = code;
    this.facts = facts;
  }
}

/** A client's rate: `count` expansions in `period` seconds. The next expansion is allowed in `wait` seconds. */
export interface RateState {
  count: number;
  period: number;
  wait: number;
}

export const unknownName = (hostname: string, cause?: unknown) =>
  new ExpansionError('request_failed', `There is no website named ${hostname}.`, {
    reason: 'unknown_name',
    cause,
  });

/** Returns the error for an aborted signal: its reason if that is an ExpansionError, otherwise `aborted`. */
export function aborted(reason: unknown): ExpansionError {
  if (reason instanceof ExpansionError) return reason;
  return new ExpansionError('aborted', 'The client disconnected.', { cause: reason });
}

/** @param what the exceeded limit as a clause, such as `Too many URL lists are in progress`. */
export function overloaded(what: string): ExpansionError {
  return new ExpansionError('overloaded', `${what}; try again soon.`);
}
