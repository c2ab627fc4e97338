/** Why a request was not carried out, and the HTTP status that says so. */
export const errorStatuses = {
  bad_cursor: 400,
  bad_filter: 400,
  bad_json: 400,
  bad_method: 400,
  not_utf8: 400,
  not_logged_in: 401,
  bad_token: 403,
  foreign_origin: 403,
  prefetch: 403,
  wrong_password: 403,
  unknown_path: 404,
  unknown_removal: 404,
  unknown_task: 404,
  method_not_allowed: 405,
  revision_changed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_field: 422,
  invalid_title: 422,
  revision_missing: 428,
  internal: 500,
  store_unavailable: 503,
  too_many_imports: 503,
  too_many_searches: 503,
  too_many_streams: 503,
};

/** The fields of a form by their names. */
export type SentForm = Record<string, string | undefined>;

export type ErrorCode = keyof typeof errorStatuses;

/**
 * An error with a stable code for programs and one sentence for people. Nothing was changed; after `store_unavailable`
 * something may have been.
 */
export class TaskError extends Error {
  readonly code: ErrorCode;
  /** The removal that was asked for. After `store_unavailable` it may have happened. */
  removal?: string;
  /** How many tasks that removal is known to have removed. */
  count?: number;
  /** The form that was sent, to be shown again. */
  form?: SentForm;
  /** The methods that the path has. */
  allow?: string;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
