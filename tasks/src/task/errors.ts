import type { Task } from './task.ts';

/** Why a request got something other than what it asked for. `refused.ts` says which status goes with which. */
export type RefusalCode =
  | 'bad_cursor'
  | 'bad_filter'
  | 'bad_json'
  | 'bad_method'
  | 'bad_token'
  | 'body_too_large'
  | 'foreign_origin'
  | 'internal'
  | 'invalid_title'
  | 'method_not_allowed'
  | 'not_utf8'
  | 'prefetch'
  | 'revision_changed'
  | 'revision_missing'
  | 'store_unavailable'
  | 'too_many_streams'
  | 'unknown_path'
  | 'unknown_removal'
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

/** The task is no longer the one that was edited. */
export class RevisionChanged extends Refusal {
  readonly current: Task;

  constructor(current: Task) {
    super('revision_changed', `Somebody changed this task meanwhile. It now reads “${current.title}”.`);
    this.current = current;
  }
}
