import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';

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
  const origin = url.split('/', 3).join('/');
  console.warn(
    `${origin} answers 429: sending ${perSecond.toPrecision(2)} links a second instead of ${rate}.`,
  );
  return perSecond / rate;
}

/** The number of this iteration's request, from 0. Undefined if it sends none, so that only `share` of them do. */
export function requestNumber(share: number): number | undefined {
  const i = exec.scenario.iterationInTest;
  const number = Math.floor(i * share);
  return Math.floor((i + 1) * share) > number ? number : undefined;
}
