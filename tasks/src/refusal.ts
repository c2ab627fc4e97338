/** Why a request got something other than what it asked for. `refused.ts` says which status goes with which. */
export type RefusalCode =
  | 'bad_cursor'
  | 'bad_filter'
  | 'bad_json'
  | 'bad_token'
  | 'body_too_large'
  | 'foreign_origin'
  | 'internal'
  | 'invalid_title'
  | 'method_not_allowed'
  | 'prefetch'
  | 'revision_changed'
  | 'revision_missing'
  | 'store_unavailable'
  | 'unknown_path'
  | 'unknown_task'
  | 'unsupported_media_type';

/** A request that is not carried out: a stable code, and one sentence for people. Nothing was changed. */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
