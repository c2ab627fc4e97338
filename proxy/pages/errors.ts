import { STATUS_CODES } from 'node:http';
import { page } from './page.ts';

interface ProxyError {
  /** A stable code for programs; tasks uses the same codes. */
  code: string;
  reason: string;
  advice?: string;
  /** Whether the same request may succeed later. */
  again?: boolean;
}

const error = (code: string, reason: string, more: Partial<ProxyError> = {}) => ({ code, reason, ...more });

/** nginx's own errors, by status; `login` is the login limit. */
const errors: Record<string, ProxyError> = {
  400: error('bad_request', 'The request is malformed.'),
  404: error('unknown_path', 'There is nothing at this address.'),
  405: error('method_not_allowed', 'This method is not allowed here.'),
  411: error('length_required', 'The request has no Content-Length.'),
  413: error('body_too_large', 'The request is too large.', {
    advice: 'A form may have 64 KiB, an import 1 MiB, a list of URLs 8 MiB.',
  }),
  414: error('url_too_long', 'The address is too long.'),
  421: error('unknown_host', 'The task list does not answer to this name.', {
    advice:
      'Use the address of the machine. To use this name, set LONGHAND_TASKS_NAME in .env, then run docker compose up --detach --wait.',
    again: true,
  }),
  429: error('too_many_requests', 'Too many requests from your address.', {
    advice: 'Wait a second, then try again.',
    again: true,
  }),
  login: error('too_many_requests', 'Too many attempts to log in from your address.', {
    advice: 'Five a minute are allowed. Wait 12 seconds, then try again.',
  }),
  431: error('headers_too_large', 'The headers of the request are too long.'),
  500: error('internal', 'Something went wrong on our side.', { again: true }),
  501: error('unknown_method', 'This method is not supported.'),
  502: error('unreachable', 'The application is not answering.', {
    advice: 'It is being restarted. Try again in a few seconds.',
    again: true,
  }),
  503: error('unavailable', 'The application is busy.', {
    advice: 'Try again in a few seconds.',
    again: true,
  }),
  504: error('timeout', 'The application took too long to answer.', { again: true }),
  505: error('unsupported_version', 'This version of HTTP is not supported.'),
};

/** The applications by nginx's names; the front page has no application. */
const applications = {
  '': { title: 'Longhand', start: 'the start page' },
  expander: { title: 'Shorten URL Expand', start: 'the expander' },
  tasks: { title: 'Tasks', start: 'the list' },
};

/** The error files by path: pages, and JSON for programs. nginx adds the request's values. */
export function errorFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [kind, error] of Object.entries(errors)) {
    const { code, reason, advice = '' } = error;
    const status = kind === 'login' ? 429 : Number(kind);
    const detail = `${reason} ${advice}`.trim();
    const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code };
    for (const name of ['', 'expander', 'tasks'] as const)
      files[`errors/${name}/${kind}.html`] = errorPage(kind, status, error, name);
    files[`errors/${kind}.json`] = JSON.stringify(problem);
    files[`errors/${kind}.code`] = JSON.stringify({ code, message: detail });
  }
  return files;
}

function errorPage(
  kind: string,
  status: number,
  { reason, advice, again }: ProxyError,
  name: keyof typeof applications,
): string {
  const { title, start } = applications[name];
  const sent = kind === 'login' ? '' : '<p>Your browser’s Back button brings back what you wrote.</p>';
  // An empty reference leads to the same address, with its query.
  const retry = again ? '<a href="">Try again</a>' : '';
  const name421 = '<p><code>LONGHAND_TASKS_NAME=<!--# echo var="host" --></code></p>';
  return page(
    `${reason.slice(0, -1)} · ${title}`,
    `<main class="error ${name}">
<h1>${reason}</h1>
${advice ? `<p>${advice}</p>` : ''}
${status === 421 ? name421 : ''}
<!--# if expr="$method = POST" -->${sent}<!--# endif -->
<p class="ways">
<!--# if expr="$method != POST" -->${retry}<!--# endif -->
${status === 421 ? '' : `<a href="/">Back to ${start}</a>`}
</p>
<p class="code">Error ${status}, request <!--# echo var="request_id" --></p>
</main>`.replace(/^\n/gm, ''),
  );
}
