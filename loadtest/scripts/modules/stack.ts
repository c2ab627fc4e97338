import { sleep } from 'k6';
import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { stackUrls } from '../../stack-urls.ts';
import { allowedShare } from './rate-limit.ts';

/** The hosts besides this machine that may be loaded. */
const allowedHosts = (__ENV.LOAD_ALLOW_HOST ?? '')
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

/** The API's URL for `link` of the local shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

/** Aborts the run if the expander may not contact the shortener. */
function requireShortener(): void {
  requirePage(stack.expander);
  const { status } = http.get(apiUrl('/chain/2'), { tags: { name: 'setup' } });
  if (status === 200) return;
  const elsewhere = 'name a shortener that it may contact in SHORTENER_URL and LOAD_ALLOW_HOST.';
  const here =
    'start the stack with EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "npm start -w shortener -- --port 9000", or stop ' +
    'it, and "make load" starts its own.';
  const cure = allowedHosts.length > 0 ? elsewhere : here;
  abort(`The expander answers ${status} for a link to ${shortener}: ${cure}`);
}

/** The path of a link that this run requests again and again. */
export const hotLink = (run: number, i: number) => `/chain/2?id=${run}-hot-${i}`;

/**
 * Lets the expander remember hot links, as fast as its host allows. Aborts the run if it may not contact the shortener.
 * For `setup`.
 *
 * @param rate links a second of this run; 0 if it takes no notice of the host's limit.
 * @returns what tells this run's links apart, and the share of `rate` that the host allows.
 */
export function prepareLinks(hotLinks: number, rate: number) {
  requireShortener();
  const run = Date.now();
  const share = allowedShare(apiUrl(hotLink(run, 0)), rate);
  for (let i = 0; i < hotLinks; i += 1) {
    http.get(apiUrl(hotLink(run, i)), { tags: { name: 'setup' } });
    if (share < 1) sleep(1 / (share * rate));
  }
  return { run, share };
}
