/** Why a request was not carried out. `web/error-response.ts` maps codes to statuses. */
export const errorCodes = [
  'bad_cursor',
  'bad_filter',
  'bad_json',
  'bad_method',
  'bad_token',
  'body_too_large',
  'foreign_origin',
  'internal',
  'invalid_field',
  'invalid_title',
  'method_not_allowed',
  'not_logged_in',
  'not_utf8',
  'prefetch',
  'revision_changed',
  'revision_missing',
  'store_unavailable',
  'too_many_streams',
  'unknown_path',
  'unknown_removal',
  'unknown_task',
  'unsupported_media_type',
  'wrong_password',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/**
 * An error with a stable code for programs and one sentence for people. Nothing was changed; after `store_unavailable`
 * something may have been.
 */
export class TaskError extends Error {
  readonly code: ErrorCode;
  /** The removal that was asked for. After `store_unavailable` it may have happened. */
  removal?: string;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
