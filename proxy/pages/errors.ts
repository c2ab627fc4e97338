import { STATUS_CODES } from 'node:http';
import { page } from './page.ts';

interface ProxyError {
  /** Stable error code, shared with the tasks service. */
  code: string;
  reason: string;
  advice?: string;
  /** Whether the same request may succeed later. */
  retryable?: boolean;
}

const error = (code: string, reason: string, more: Partial<ProxyError> = {}) => ({ code, reason, ...more });

/** The statuses of errors that are not named after their status. */
const statuses: Record<string, number> = { login: 429, imports: 503 };

/** nginx's own errors, by status. `login` and `imports` are the errors for the limits on logins and imports. */
const errors: Record<string, ProxyError> = {
  400: error('bad_request', 'The request is malformed.'),
  404: error('unknown_path', 'There is nothing at this address.'),
  405: error('method_not_allowed', 'This method is not allowed here.'),
  411: error('length_required', 'The request has no Content-Length.'),
  413: error('body_too_large', 'The request is too large.', {
    advice:
      'The limit is 1 MiB for a list of tasks, 8 MiB for a list of URLs, and otherwise 64 KiB. Send a longer list in parts.',
  }),
  414: error('url_too_long', 'The address is too long.'),
  421: error('unknown_host', 'The task list is not available under this name.', {
    advice:
      'Use the machine’s IP address. To use this name, set LONGHAND_TASKS_NAME in .env, then run docker compose up --detach --wait.',
    retryable: true,
  }),
  429: error('too_many_requests', 'Too many requests from your address.', {
    advice: 'Wait a second, then try again.',
    retryable: true,
  }),
  login: error('too_many_requests', 'Too many attempts to log in from your address.', {
    advice: 'You can try five times a minute. Wait 12 seconds, then try again.',
  }),
  imports: error('too_many_imports', 'Too many imports at a time.', {
    advice: 'Wait until one has ended, then try again.',
  }),
  431: error('headers_too_large', 'The request headers are too large.'),
  500: error('internal', 'Something went wrong on our side.', { retryable: true }),
  501: error('unknown_method', 'This method is not supported.'),
  502: error('unreachable', 'The application is not responding.', {
    advice: 'It is restarting. Try again in a few seconds.',
    retryable: true,
  }),
  503: error('unavailable', 'The application is busy.', {
    advice: 'Try again in a few seconds.',
    retryable: true,
  }),
  504: error('timeout', 'The application took too long to respond.', { retryable: true }),
  505: error('unsupported_version', 'This version of HTTP is not supported.'),
};

/** Titles and start pages, keyed by nginx's `$application`, which is empty for the front page. */
const applications = {
  '': { title: 'Longhand', start: 'the start page' },
  expander: { title: 'Where does it lead?', start: 'the start page' },
  tasks: { title: 'Tasks', start: 'the list' },
};

/** Returns the HTML and JSON error files by path. nginx inserts values such as the request ID. */
export function errorFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [kind, error] of Object.entries(errors)) {
    const { code, reason, advice = '' } = error;
    const status = statuses[kind] ?? Number(kind);
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
  { reason, advice, retryable }: ProxyError,
  name: keyof typeof applications,
): string {
  const { title, start } = applications[name];
  const sent = kind === 'login' ? '' : '<p>Your browser’s Back button brings back what you wrote.</p>';
  // An empty href is the current URL, with its query.
  const retry = retryable ? '<a href="">Try again</a>' : '';
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
