import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';

/** The URLs of the stack; by default those of `make up`. */
export const stack = {
  proxy: allowedUrl('PROXY_URL') || 'http://127.0.0.1:8080',
  expander: allowedUrl('EXPANDER_URL') || 'http://127.0.0.1:8081',
  tasks: allowedUrl('TASKS_URL') || 'http://127.0.0.1:8082',
};

/** The tasks service without the proxy, if it is reachable. */
export const tasksDirect = allowedUrl('TASKS_DIRECT_URL');

/** The server of constant responses to compare with, if there is one. */
export const controlUrl = allowedUrl('CONTROL_URL');

/** The shortener whose links the expander follows. */
export const shortener = allowedUrl('SHORTENER_URL') || 'http://127.0.0.1:9000';

/**
 * Reads a URL from the environment. A typo must not send load to anyone else, so only this machine is allowed, the
 * shortener's container on it, and the one host that LOAD_ALLOW_HOST names.
 */
function allowedUrl(variable: string): string | undefined {
  const url = __ENV[variable];
  if (!url) return undefined;
  const host = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?\/?$/i.exec(url)?.[1]?.toLowerCase();
  const allowed = __ENV.LOAD_ALLOW_HOST?.toLowerCase();
  if (host && (isThisMachine(host) || (allowed && host === allowed))) return url.replace(/\/$/, '');
  const opened = allowed ? ` and to ${allowed}, which LOAD_ALLOW_HOST names` : '';
  throw new Error(
    `${variable}=${url}: load is sent to this machine only${opened}; use a URL such as http://127.0.0.1:8080, or set ` +
      'LOAD_ALLOW_HOST to the host of your own stack.',
  );
}

function isThisMachine(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|[\w-]+\.localhost|\[::1\]|shortener)$/.test(host);
}

/** Says what this run writes, if it writes on another machine than this one. For `setup`. */
export function announce(sentence: string): void {
  const host = __ENV.LOAD_ALLOW_HOST;
  if (host) console.warn(`This run loads ${host}. ${sentence}`);
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
  if (response.status !== 200) {
    const reason = response.status || response.error;
    abort(`The stack is not running: ${url}/ answers ${reason}. Start it with "make up".`);
  }
  return response;
}

/** The API's URL for `link` of the local shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** Aborts the run when the expander may not contact the local shortener. For `setup`. */
export function requireShortener(): void {
  requirePage(stack.expander);
  const response = http.get(apiUrl('/chain/2'), { tags: { name: 'setup' } });
  if (response.status === 200) return;
  abort(
    `The expander answers ${response.status} for a link to ${shortener}: start the stack with ` +
      'EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "npm start -w shortener -- --port 9000", or stop it, and "make load" ' +
      'starts its own.',
  );
}
