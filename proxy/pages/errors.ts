import { page } from './page.ts';

// An import would load undici, too, which takes longer than writing all pages.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

interface ProxyError {
  /** Stable, for programs: the same codes as those of tasks. */
  code: string;
  reason: string;
  /** What to do about it. */
  advice?: string;
  /** Whether the same request may succeed later. */
  again?: boolean;
  /** Whether a form that was sent is lost, and the browser still has it. */
  form?: boolean;
}

const later = { again: true, form: true };

/** What nginx answers itself, by status; `login` is one login attempt too many. */
export const errors: Record<string, ProxyError> = {
  400: { code: 'bad_request', reason: 'The request is malformed.' },
  404: { code: 'unknown_path', reason: 'There is nothing at this address.' },
  405: { code: 'method_not_allowed', reason: 'This method is not allowed here.' },
  411: { code: 'length_required', reason: 'The request does not say how long it is.' },
  413: {
    code: 'body_too_large',
    reason: 'The request is too large.',
    advice: 'A form may have 64 KiB, an import 1 MiB, a list of URLs 8 MiB.',
    form: true,
  },
  414: { code: 'url_too_long', reason: 'The address is too long.' },
  421: {
    code: 'unknown_host',
    reason: 'The task list does not answer to this name.',
    advice:
      'Use the address of the machine. To use this name, set LONGHAND_TASKS_NAME in .env, then run docker compose up --detach --wait.',
    again: true,
  },
  429: {
    code: 'too_many_requests',
    reason: 'Too many requests from your address.',
    advice: 'Wait a second, then try again.',
    ...later,
  },
  login: {
    code: 'too_many_requests',
    reason: 'Too many attempts to log in from your address.',
    advice: 'Five a minute are allowed. Wait 12 seconds, then try again.',
  },
  431: { code: 'headers_too_large', reason: 'The headers of the request are too long.' },
  500: { code: 'internal', reason: 'Something went wrong on our side.', ...later },
  501: { code: 'unknown_method', reason: 'This method is not supported.' },
  502: {
    code: 'unreachable',
    reason: 'The application is not answering.',
    advice: 'It is being restarted. Try again in a few seconds.',
    ...later,
  },
  503: {
    code: 'unavailable',
    reason: 'The application is busy.',
    advice: 'Try again in a few seconds.',
    ...later,
  },
  504: { code: 'timeout', reason: 'The application took too long to answer.', ...later },
  505: { code: 'unsupported_version', reason: 'This version of HTTP is not supported.' },
};

/** The applications by the names that nginx has for them; it has none for the front page. */
const applications = {
  '': { title: 'Longhand', start: 'the start page' },
  expander: { title: 'Shorten URL Expand', start: 'the expander' },
  tasks: { title: 'Tasks', start: 'the list' },
};

/** The files of all errors by path: pages, and JSON for programs. nginx fills in what depends on the request. */
export function errorFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [kind, error] of Object.entries(errors)) {
    const { code, reason, advice = '' } = error;
    const status = kind === 'login' ? 429 : Number(kind);
    const detail = `${reason} ${advice}`.trim();
    const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code };
    for (const name of ['', 'expander', 'tasks'] as const) {
      files[`errors/${name}/${kind}.html`] = errorPage(status, error, name);
      files[`errors/${name}/${kind}.json`] = JSON.stringify(problem);
    }
    files[`errors/expander/${kind}.code`] = JSON.stringify({ code, message: detail });
  }
  return files;
}

function errorPage(
  status: number,
  { reason, advice, again, form }: ProxyError,
  name: keyof typeof applications,
): string {
  const { title, start } = applications[name];
  const sent = form ? '<p>Your browser’s Back button brings back what you wrote.</p>' : '';
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
