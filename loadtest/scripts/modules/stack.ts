import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { allowedUrl, hosts, stackUrls } from './settings.ts';

/** Remote hosts that may receive load. */
const allowedHosts = hosts(__ENV);
const url = (variable: string) => allowedUrl(variable, __ENV);

export const stack = {
  expander: url('EXPANDER_URL') || stackUrls.EXPANDER_URL,
  tasks: url('TASKS_URL') || stackUrls.TASKS_URL,
};

/** URL of the front page, or undefined if a remote stack has none. */
export const indexPage = url('PROXY_URL') || (allowedHosts.length > 0 ? undefined : stackUrls.PROXY_URL);

/** URL of the tasks service without the proxy. */
export const tasksDirect = url('TASKS_DIRECT_URL');

export const controlUrl = url('CONTROL_URL');

/** URL of the shortener whose links the expander follows. */
export const shortener = url('SHORTENER_URL') || 'http://127.0.0.1:9000';

/** Warns if the run sends load to other hosts. `sentence` describes what the run writes there. */
export function announce(sentence: string): void {
  if (allowedHosts.length > 0) console.warn(`This run sends load to ${allowedHosts.join(', ')}. ${sentence}`);
}

/** Aborts the run with a message. */
export function abort(message: string): never {
  exec.test.abort(message);
  throw new Error(message);
}

/** Requests the page at `url`. Aborts the run if the status is not 200. */
export function requirePage(url: string): RefinedResponse<'text'> {
  const response = http.get(`${url}/`, {
    timeout: '3s',
    responseType: 'text',
    tags: { name: 'setup' },
    // Use a new jar, because cookies ignore ports and both applications are at 127.0.0.1.
    jar: new http.CookieJar(),
  });
  const { status, error, headers } = response;
  if (headers.Location?.startsWith('/login'))
    abort(`${url}/ requires a password. Use a stack without TASKS_PASSWORD_FILE.`);
  if (status !== 200)
    abort(`The stack is not running: ${url}/: ${status || error}. Start it with "make up".`);
  return response;
}

/** Returns the API URL that expands `link`, a path of the shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** Returns the path of a link that a run requests repeatedly. */
export const hotLink = (run: number, i: number) => `/chain/2?id=${run}-hot-${i}`;

/** Fills the caches with hot links. Returns the run's ID, which is part of every link. */
export function prepareLinks(hotLinks: number): number {
  requirePage(stack.expander);
  linkStatus();
  const run = Date.now();
  for (let i = 0; i < hotLinks; i += 1) http.get(apiUrl(hotLink(run, i)), { tags: { name: 'setup' } });
  return run;
}

/**
 * Expands a link of the shortener and returns the status. Aborts the run unless the status is 200 or `expected`.
 */
export function linkStatus(expected = 200): number {
  const responseCallback = http.expectedStatuses(200, expected);
  const { status } = http.get(apiUrl('/chain/2'), { tags: { name: 'setup' }, responseCallback });
  if (status !== 200 && status !== expected)
    abort(
      `The expander returned ${status} for a link to ${shortener}. Set SHORTENER_URL to a running shortener, and allow ` +
        'the expander to contact it: EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8. "make load" does both if it starts the stack.',
    );
  return status;
}
