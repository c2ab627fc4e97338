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
