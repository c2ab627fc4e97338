import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { hasLeft } from '@longhand/shared/client-address.ts';
import { annotate } from '@longhand/shared/observe.ts';
import type { LazyResponse } from '@longhand/shared/routes.ts';
import { errorStatuses, type SentForm, TaskError } from '../task/errors.ts';
import { textOf } from '../task/schema.ts';
import { RevisionChanged } from '../task/task.ts';
import { pageAfterLogin } from './auth.ts';
import { listSearch, partOf, type TasksContext, taskId } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { mergedText, wasIn } from './edit.ts';
import { html, json, respond, wantsJson } from './responses.ts';

const statusHeaders: Record<number, Record<string, string>> = {
  // For programs (RFC 6750). Browsers show the page.
  401: { 'WWW-Authenticate': 'Bearer realm="tasks"' },
  // Redis takes one or two seconds to restart.
  503: { 'Retry-After': '2' },
};

function errorStatus({ code, allow }: TaskError): { status: number; headers: Record<string, string> } {
  const status = errorStatuses[code];
  return { status, headers: { ...statusHeaders[status], ...(allow !== undefined && { Allow: allow }) } };
}

/** @throws TaskError `method_not_allowed` */
export function methodNotAllowed({ req: { method } }: TasksContext, allow: string): never {
  const message = `This address accepts only ${allow}, not ${method}.`;
  throw Object.assign(new TaskError('method_not_allowed', message), { allow });
}

/** Problem details (RFC 9457). */
export function problem(c: TasksContext, error: TaskError): LazyResponse {
  const { status, headers } = errorStatus(error);
  const { code, message: detail, removal, count } = error;
  const value = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code, removal, count };
  if (error instanceof RevisionChanged) headers.ETag = `"${error.current.revision}"`;
  return json(c, value, status, { 'Content-Type': 'application/problem+json', ...headers });
}

/** Responds to a failed request with problem details for programs, the submitted form for browser forms, or an error page. */
export function errorHandler({ csrf, render, log }: Pick<Dependencies, 'csrf' | 'render' | 'log'>) {
  return async (cause: Error, c: TasksContext): Promise<LazyResponse> => {
    // The client has disconnected, so only the log shows this status.
    if (hasLeft(c) && !(cause instanceof TaskError)) return respond(c, null, 499);
    if (!(cause instanceof TaskError)) log.error({ err: cause }, 'a request failed');
    const error = cause instanceof TaskError ? cause : new TaskError('internal', 'Something went wrong.');
    if (error.code === 'store_unavailable') log.warn({ err: error.cause }, 'the store did not respond');
    annotate(c, { error: error.code });
    // The next list page shows the last change, because this page does not.
    c.set('cookie', undefined);

    if (wantsJson(c)) return problem(c, error);
    const { status, headers } = errorStatus(error);
    const { message: detail } = error;
    const again = error.form && (await formAgain(c, error.form, error));
    const page = {
      status,
      detail,
      again: status >= 500 && c.req.method === 'GET' ? new URL(c.req.url).search || '?' : undefined,
      removal: error.removal,
      list: `/${listSearch(partOf(c), error.removal ? { removal: error.removal } : {})}`,
      requestId: c.req.header('x-request-id'),
    };
    return html(c, again ?? (() => render('error', page)), status, headers);
  };

  /** Returns a function that renders the submitted form again, or undefined if the form had no text, or the key for a new token is unavailable. */
  async function formAgain(
    c: TasksContext,
    form: SentForm,
    error: TaskError,
  ): Promise<(() => string) | undefined> {
    if (form.undo || [form.title, form.text, form.next].every((text) => text === undefined)) return undefined;
    const token = await csrf.issue(c).catch(() => undefined);
    if (token === undefined) return undefined;
    const nonce = form.nonce ?? randomUUID();
    const values = { ...form, nonce, problem: error.message, csrf: token, back: listSearch(partOf(c)) };
    if (form.next !== undefined) return () => render('login', { ...values, next: pageAfterLogin(form.next) });
    if (form.title === undefined) return () => render('import', values);
    const id = taskId(c);
    if (id === '') return () => render('new', { ...values, action: c.req.path });
    if (error.code === 'unknown_task') {
      const problem = `${error.message} Add saves your text as a new task.`;
      return () => render('new', { ...values, problem });
    }
    if (!(error instanceof RevisionChanged)) {
      return () => render('edit', { ...values, id, revision: form.revision ?? '', was: wasIn(form) });
    }
    // The message shows the current title, so the next save may overwrite it.
    const { current } = error;
    const problem = `${error.message} Save replaces its title with yours.`;
    const shown = { ...mergedText(form, current), problem, was: textOf(current) };
    return () => render('edit', { ...values, ...shown, id, revision: current.revision });
  }
}
