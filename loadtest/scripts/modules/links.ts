/** Links of the local shortener, requested no faster than the expander's host allows. */
import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { abort, allowedHosts, requirePage, shortener, stack } from './stack.ts';

/** The API's URL for `link` of the local shortener. */
export const apiUrl = (link: string) => `${stack.expander}/api?u=${encodeURIComponent(shortener + link)}`;

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
  requirePage(stack.expander);
  const params = { tags: { name: 'setup' } };
  const { status } = http.get(apiUrl('/chain/2'), params);
  if (status !== 200) {
    const cure =
      allowedHosts.length > 0
        ? 'name a shortener that it may contact in SHORTENER_URL and LOAD_ALLOW_HOST.'
        : 'start the stack with EXPANDER_ALLOWED_NETWORKS=127.0.0.0/8 and "npm start -w shortener -- --port 9000", ' +
          'or stop it, and "make load" starts its own.';
    abort(`The expander answers ${status} for a link to ${shortener}: ${cure}`);
  }
  const run = Date.now();
  const share = allowedShare(apiUrl(hotLink(run, 0)), rate);
  for (let i = 0; i < hotLinks; i += 1) {
    http.get(apiUrl(hotLink(run, i)), params);
    if (share < 1) sleep(1 / (share * rate));
  }
  return { run, share };
}

/** Seconds in which a limit is measured. */
const measured = 3;
/** The share of a limit that is used: its measurement is a little off. */
const margin = 0.9;

/**
 * The share of `rate` links a second that the host of `url`, one of them, allows. That is 1, unless it answers 429 to
 * the links of two seconds, sent at once. For `setup`.
 */
export function allowedShare(url: string, rate: number): number {
  const params = { tags: { name: 'setup' }, responseCallback: http.expectedStatuses({ min: 200, max: 599 }) };
  /** How many of `count` requests are allowed. */
  const send = (count: number) => {
    const requests = Array.from({ length: count }, () => ({ method: 'GET', url, params }));
    return http.batch(requests).filter(({ status }) => status !== 429).length;
  };
  const count = Math.ceil(2 * rate);
  if (send(count) === count) return 1;
  // The burst is used up: what passes now is the rate.
  let allowed = 0;
  const start = Date.now();
  for (; Date.now() - start < measured * 1_000; sleep(0.1)) allowed += send(Math.ceil(rate / 10));
  const perSecond = (margin * Math.max(1, allowed) * 1_000) / (Date.now() - start);
  if (perSecond >= rate) return 1;
  const instead = `sending ${perSecond.toPrecision(2)} links a second instead of ${rate}`;
  console.warn(`${stack.expander} answers 429: ${instead}.`);
  return perSecond / rate;
}

/** The number of this iteration's request, from 0. Undefined if it sends none, so that only `share` of them do. */
export function requestNumber(share: number): number | undefined {
  const i = exec.scenario.iterationInTest;
  const number = Math.floor(i * share);
  return Math.floor((i + 1) * share) > number ? number : undefined;
}
