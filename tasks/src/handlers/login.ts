import { annotate } from '@longhand/shared/observe.ts';
import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import { z } from 'zod';
import { TaskError } from '../task/errors.ts';
import { type Auth, pageAfterLogin } from '../web/auth.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { problem } from '../web/error-response.ts';
import { nothing, withInput } from '../web/input.ts';
import { html, redirect, toList, wantsJson } from '../web/responses.ts';

/**
 * Checks the login first. Redirects logged-out browsers to the login form, and sends problem details to programs.
 *
 * @throws TaskError `not_logged_in` for a write
 */
export function requireLogin(auth: Auth) {
  return async (c: TasksContext): Promise<LazyResponse | undefined> => {
    const { method, path } = c.req;
    if (path === '/login' || path.startsWith('/public/') || (await auth.admits(c))) {
      return undefined;
    }
    if (!/^(GET|HEAD)$/.test(method)) {
      throw new TaskError('not_logged_in', 'You are logged out, so nothing was changed.');
    }
    const error = new TaskError('not_logged_in', 'Log in or send a token to see the tasks.');
    annotate(c, { error: error.code });
    return wantsPage(c) ? redirect(c, 303, loginFor(c)) : problem(c, error);
  };
}

/** Whether a browser is requesting a page. On routes for programs, only browsers send `text/html` in `Accept`. */
function wantsPage(c: TasksContext): boolean {
  const forPrograms = /^\/(tasks\/(events|export)|openapi\.json)$/.test(c.req.path);
  return !wantsJson(c) && (!forPrograms || !!c.req.header('accept')?.includes('text/html'));
}

function loginFor(c: TasksContext): string {
  const { pathname, search } = new URL(c.req.url);
  const next = pageAfterLogin(pathname + search);
  return next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`;
}

/** `next` is the path to open after the login. */
const loginForm = z.object({ password: z.string().optional(), next: z.string().optional() });

/** The proxy limits login attempts. */
export function loginHandlers({
  csrf,
  auth,
  render,
}: Pick<Dependencies, 'csrf' | 'render'> & { auth: Auth }) {
  return {
    async new(c: TasksContext) {
      if (await auth.admits(c)) return toList(c, 303);
      const next = pageAfterLogin(queryOf(c).get('next'));
      const token = await csrf.issue(c);
      return html(c, () => render('login', { csrf: token, next }));
    },

    create: (c: TasksContext) =>
      withInput(c, csrf, { form: loginForm }, async ({ password = '', next }) => {
        if (!auth.isPassword(password)) throw new TaskError('wrong_password', 'Wrong password.');
        await auth.logIn(c);
        return redirect(c, 303, pageAfterLogin(next));
      }),

    destroy: (c: TasksContext) =>
      withInput(c, csrf, nothing, async () => {
        await auth.logOut(c);
        return redirect(c, 303, '/login');
      }),
  };
}
