import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { stackUrls } from '../../stack-urls.ts';

/** The hosts besides this machine that may be loaded. */
export const allowedHosts = (__ENV.LOAD_ALLOW_HOST ?? '')
  .toLowerCase()
  .split(/[\s,]+/)
  .filter(Boolean);

/** The URLs of the stack. */
export const stack = {
  expander: allowedUrl('EXPANDER_URL') || stackUrls.EXPANDER_URL,
  tasks: allowedUrl('TASKS_URL') || stackUrls.TASKS_URL,
};

/** The index page for all other host names. A stack elsewhere may not have one. */
export const indexPage =
  allowedUrl('PROXY_URL') || (allowedHosts.length > 0 ? undefined : stackUrls.PROXY_URL);

/** The tasks service without the proxy, if it is reachable. */
export const tasksDirect = allowedUrl('TASKS_DIRECT_URL');

/** The server of constant responses to compare with, if there is one. */
export const controlUrl = allowedUrl('CONTROL_URL');

/** The shortener whose links the expander follows. */
export const shortener = allowedUrl('SHORTENER_URL') || 'http://127.0.0.1:9000';

/**
 * Reads a URL from the environment. A typo must not send load to anyone else: allows only this machine, the shortener's
 * container on it, and the hosts in LOAD_ALLOW_HOST.
 */
function allowedUrl(variable: string): string | undefined {
  const url = __ENV[variable];
  if (!url) return undefined;
  const host = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i.exec(url)?.[1]?.toLowerCase();
  if (host && (isThisMachine(host) || allowedHosts.includes(host))) return url.replace(/\/$/, '');
  const allowed = ['this machine', ...allowedHosts].join(', ');
  throw new Error(
    `${variable}=${url}: not allowed. Load goes to ${allowed} only. Use a URL such as http://127.0.0.1:8080, or name ` +
      'the hosts of your own stack in LOAD_ALLOW_HOST=expander.example.org,tasks.example.org.',
  );
}

function isThisMachine(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|[\w-]+\.localhost|\[::1\]|shortener)$/.test(host);
}

/** Says what this run writes, if it may write on another machine. For `setup`. */
export function announce(sentence: string): void {
  if (allowedHosts.length > 0) console.warn(`This run loads ${allowedHosts.join(', ')}. ${sentence}`);
}

/** Aborts the run with a message. */
export function abort(message: string): never {
  exec.test.abort(message);
  throw new Error(message);
}

/** Requests the page at `url`; aborts the run when it is not served. For `setup`. */
export function requirePage(url: string): RefinedResponse<'text'> {
  const response = http.get(`${url}/`, {
    timeout: '3s',
    responseType: 'text',
    tags: { name: 'setup' },
    // A separate cookie jar: cookies ignore ports, and every service here is at 127.0.0.1.
    jar: new http.CookieJar(),
  });
  const { status, error, headers } = response;
  if (headers.Location?.startsWith('/login'))
    abort(`${url}/ asks for a password: load a stack without TASKS_PASSWORD_FILE.`);
  if (status !== 200)
    abort(`The stack is not running: ${url}/ answers ${status || error}. Start it with "make up".`);
  return response;
}
