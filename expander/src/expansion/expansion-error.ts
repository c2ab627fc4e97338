/** Why an expansion failed: stable, for programs. `aborted` is never shown: nobody waits for that answer. */
export type ErrorCode =
  | 'invalid_url'
  | 'invalid_callback'
  | 'unsupported_scheme'
  | 'target_refused'
  | 'request_failed'
  | 'timeout'
  | 'overloaded'
  | 'aborted';

/** A failure with a stable code and one plain ASCII sentence for people. */
export class ExpansionError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Why whoever gave a signal gets no answer: the reason of that signal where it is one of ours. */
export function aborted(reason: unknown): ExpansionError {
  if (reason instanceof ExpansionError) return reason;
  return new ExpansionError('aborted', 'Nobody waits for this any more.', { cause: reason });
}

/** What is told where there is too much to do for now. */
export function overloaded(what: string): ExpansionError {
  return new ExpansionError('overloaded', `${what}; try again soon.`);
}
