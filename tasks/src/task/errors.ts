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
  too_many_exports: 503,
  too_many_imports: 503,
  too_many_streams: 503,
};

export type SentForm = Record<string, string | undefined>;

export type ErrorCode = keyof typeof errorStatuses;

/** An error with a stable code for programs and a message for users. After `store_unavailable`, a write may have been saved. */
export class TaskError extends Error {
  readonly code: ErrorCode;
  /** The removal that failed. After `store_unavailable`, its tasks may have been removed. */
  removal?: string;
  /** Number of tasks confirmed as removed. */
  count?: number;
  form?: SentForm;
  allow?: string;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
