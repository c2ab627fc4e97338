import { connector, httpAgent, httpsAgent } from '@longhand/shared/agent.ts';
import { type Durations, timed } from '@longhand/shared/spans.ts';
import type { Answer, FetchHop } from '../expansion/expansion.ts';
import { createBrowse } from './browse.ts';
import { guardedRequest, type RequestSettings } from './guarded-request.ts';

/**
 * Requests hops by HEAD, and with `follow` = `all` as `browse` does, over connections that our agents open. Takes their
 * time.
 */
export function createFetchHop(settings: RequestSettings, durations: Durations) {
  const { request, fetchHead, close } = guardedRequest(settings, (lookup) =>
    connector({ 'http:': httpAgent({ lookup }), 'https:': httpsAgent({ lookup }) }),
  );
  const browse = createBrowse(request);
  const fetchHop: FetchHop = (url, options) =>
    timed('hop', () => (options.follow === 'all' ? browse : fetchHead)(url, options), {
      durations,
      describe,
    });
  return { fetchHop, close };
}

/** Of the status only its class is a label, because websites choose it. */
function describe({ status, method }: Answer) {
  const status_class = status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
  return { labels: { status_class }, facts: { status, method } };
}
