/** Seconds for which caches may keep an error, by its code; 0 if the URL did not cause it. */
export const errorLifetimes = {
  invalid_url: 30,
  invalid_callback: 30,
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

/** Why an expansion failed: a stable code for programs. */
export type ErrorCode = keyof typeof errorLifetimes;

/** The codes that a response can have. */
export const errorCodes = (Object.keys(errorLifetimes) as ErrorCode[]).filter((code) => code !== 'aborted');

/** A stable code for the exact reason. */
export type ErrorReason =
  | ('not_a_url' | 'too_long')
  | ('private_address' | 'credentials' | 'port')
  | ('unknown_name' | 'certificate');

export interface ErrorFacts {
  reason?: ErrorReason;
  /** The system's error code, for experts. */
  detail?: string;
  /** Only with `rate_limited`. */
  rate?: RateState;
}

/** A failure with a stable code and one plain ASCII sentence for the user. */
export class ExpansionError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, { cause, ...facts }: ErrorOptions & ErrorFacts = {}) {
    super(message, { cause });
    this.code = code;
    this.facts = facts;
  }
}

/** A client's rate: `count` expansions in `period` seconds. The next expansion is possible in `wait` seconds. */
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

/** The error for cancelled work: the signal's reason if that is an ExpansionError. */
export function aborted(reason: unknown): ExpansionError {
  if (reason instanceof ExpansionError) return reason;
  return new ExpansionError('aborted', 'The client has left.', { cause: reason });
}

/** The error for work beyond a limit. */
export function overloaded(what: string): ExpansionError {
  return new ExpansionError('overloaded', `${what}; try again soon.`);
}
