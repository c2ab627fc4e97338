import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { type Profile, profiles } from '../../profiles.ts';

/** The URLs of the stack; by default those of `make up`. */
export const stack = {
  proxy: localUrl('PROXY_URL') || 'http://127.0.0.1:8080',
  expander: localUrl('EXPANDER_URL') || 'http://127.0.0.1:8081',
  tasks: localUrl('TASKS_URL') || 'http://127.0.0.1:8082',
};

/** The tasks service without the proxy, if it is reachable. */
export const tasksDirect = localUrl('TASKS_DIRECT_URL');

/** The operations endpoints, if they are reachable: the proxy does not expose them. */
export const operations = { expander: localUrl('EXPANDER_OPS_URL'), tasks: localUrl('TASKS_OPS_URL') };

/** The local shortener whose links the expander follows. */
export const shortener = localUrl('SHORTENER_URL') || 'http://127.0.0.1:9000';

/**
 * Reads a URL from the environment. A typo must not send load to anyone else, so only this machine is allowed, and the
 * shortener's container on it.
 */
function localUrl(variable: string): string | undefined {
  const url = __ENV[variable];
  if (!url || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]|shortener):\d+$/.test(url)) return url;
  throw new Error(
    `${variable}=${url}: load is sent to this machine only; use a URL such as http://127.0.0.1:8080.`,
  );
}

/** The profile that LOAD_PROFILE selects. */
export const profile: Profile = selectProfile(__ENV.LOAD_PROFILE || 'full');

function selectProfile(name: string): Profile {
  const found = profiles[name];
  if (found) return found;
  throw new Error(`LOAD_PROFILE=${name}: the profiles are ${Object.keys(profiles).join(' and ')}.`);
}

/** Aborts the run with a message for people. */
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
      'EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "node shortener/shortener.ts", or stop it, and "make load" ' +
      'starts its own.',
  );
}
