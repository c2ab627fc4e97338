import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { type Refusal, type RefusalCode, RevisionChanged } from '../task/errors.ts';
import type { TasksContext } from './context.ts';
import type { Csrf } from './csrf.ts';
import { html, noStore, respond, wantsJson } from './responses.ts';
import type { Render } from './views.ts';

const statuses = {
  bad_cursor: 400,
  bad_filter: 400,
  bad_json: 400,
  bad_method: 400,
  not_utf8: 400,
  bad_token: 403,
  foreign_origin: 403,
  prefetch: 403,
  unknown_path: 404,
  unknown_removal: 404,
  unknown_task: 404,
  method_not_allowed: 405,
  revision_changed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_title: 422,
  revision_missing: 428,
  internal: 500,
  store_unavailable: 503,
  too_many_streams: 503,
} as const satisfies Record<RefusalCode, number>;

/** Seconds after which a client may try again: Redis is back within one or two where it only restarts. */
const retryAfter = { 'Retry-After': '2' };

/** The status of a refusal, and the headers that go with it. */
export function refusedStatus({ code }: Refusal): [status: number, headers: Record<string, string>] {
  const status = statuses[code];
  return [status, { ...noStore, ...(status === 503 && retryAfter) }];
}

export type Refused = (
  c: TasksContext,
  refusal: Refusal,
  headers?: Record<string, string>,
) => Promise<Response>;

/**
 * Answers a refused request: with problem details (RFC 9457) for a client of the API, with the form and
 * what was typed where a form was sent, else with a page that says why.
 */
export function refusedWith({ csrf, render }: { csrf: Csrf; render: Render }): Refused {
  return async (c, refusal, headers = {}) => {
    const { code, message: detail } = refusal;
    const [status, always] = refusedStatus(refusal);
    const all = { ...always, ...headers };
    if (wantsJson(c)) {
      const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code };
      const type = { 'Content-Type': 'application/problem+json' };
      return respond(c, JSON.stringify(problem), status, { ...type, ...all });
    }
    return html(c, (await form(c, refusal)) ?? render('error', { status, detail }), status, all);
  };

  /** The form that was sent, once more; undefined where none was, or no token can be had for it. */
  async function form(c: TasksContext, refusal: Refusal): Promise<string | undefined> {
    const typed = c.get('typed');
    if (typed?.title === undefined && typed?.text === undefined) return undefined;
    try {
      const again = { ...typed, problem: refusal.message, csrf: await csrf.issue(c) };
      if (typed.title === undefined) return render('import', again);
      const id = c.req.param('id');
      if (id === undefined) return render('new', { ...again, nonce: typed.nonce ?? randomUUID() });
      const edited = typed.match?.replaceAll('"', '') ?? '';
      // Who has seen what the task reads now may overwrite it.
      const revision = refusal instanceof RevisionChanged ? refusal.current.revision : edited;
      return render('edit', { ...again, id, revision });
    } catch {
      return undefined;
    }
  }
}
