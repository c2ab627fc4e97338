import { browserSession } from '../expansion/browser-session.ts';
import { createBrowse } from '../hop/browse.ts';
import type { Request } from '../hop/exchange.ts';

/** What `--follow=all` needs: half a megabyte of code, which is loaded for it alone. */
export function asBrowser(request: Request) {
  return { fetchHop: createBrowse(request), startSession: browserSession };
}
