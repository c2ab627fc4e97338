import { connector, httpAgent, httpsAgent } from '@longhand/shared/agent.ts';
import type { FetchHop } from '../expansion/expansion.ts';
import { createBrowse } from './browse.ts';
import { fetchHead } from './fetch-head.ts';
import { guardedRequest, type RequestSettings } from './guarded-request.ts';

/** Requests hops by HEAD, and with `follow` = `all` as `browse` does, over connections that our agents open. */
export function createFetchHop(settings: RequestSettings) {
  const { request, close } = guardedRequest(settings, (lookup) =>
    connector({ 'http:': httpAgent({ lookup }), 'https:': httpsAgent({ lookup }) }),
  );
  const [head, browse] = [fetchHead(request), createBrowse(request)];
  const fetchHop: FetchHop = (url, options) =>
    options.follow === 'all' ? browse(url, options) : head(url, options);
  return { fetchHop, close };
}
