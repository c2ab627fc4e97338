import { type Durations, timed } from '@longhand/shared/spans.ts';
import type { Answer, FetchHop } from '../expansion/expansion.ts';
import type { Request } from './exchange.ts';
import { fetchHead } from './fetch-hop.ts';

/** Requests hops by HEAD, and with `follow` = `all` by `browse`. Takes their time. */
export function createFetchHop(request: Request, browse: FetchHop, durations: Durations): FetchHop {
  const head = fetchHead(request);
  return (url, options) =>
    timed('hop', () => (options.follow === 'all' ? browse : head)(url, options), { durations, describe });
}

/** Of the status only its class is a label, because websites choose it. */
function describe({ status, method }: Answer) {
  const status_class = status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
  return { labels: { status_class }, facts: { status, method } };
}
