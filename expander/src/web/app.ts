import type { Log } from '@longhand/shared/log.ts';
import { rejectOtherMethods } from '@longhand/shared/other-methods.ts';
import { type App, createRoutes } from '@longhand/shared/routes.ts';
import { createTurns, type Turns } from '@longhand/shared/turns.ts';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ExpansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { createApi } from './api.ts';
import { expandList } from './bulk-api.ts';
import { type ChargeKey, messageExpander, requestExpander, requestReader } from './expand-request.ts';
import { openapi } from './openapi.ts';
import { createPage, showPage } from './page.ts';
import { apiHeaders, baseHeaders, errorResponse, noStore, openToAll, preflightHeaders } from './responses.ts';
import { name } from './result.ts';

export interface AppSettings {
  log?: Pick<Log, 'error'>;
  /** Whether a network is exempt from the guard. An exemption disables CORS and stale responses from caches. */
  exempt?: boolean;
  chargeKey?: ChargeKey | undefined;
  /** Lists take turns, because 10,000 cached lines would block the event loop. */
  turns?: Turns;
  onMissing?: ((fault: Error) => void) | undefined;
}

/** The page for visitors with a wrong address. */
const lostPage = `<!doctype html><title>${name}</title><a href="/">Page Not Found!</a>`;

/** Creates the expander's HTTP application. */
export function createApp(expand: Expand, settings: AppSettings = {}): App {
  const { log = console, exempt = false, turns = createTurns(), chargeKey, onMissing } = settings;
  const routes = createRoutes(turns);
  const onFault = (fault: unknown) => log.error({ err: fault }, 'fault');
  const readRequest = requestReader(chargeKey);
  const expandRequest = requestExpander(expand, readRequest);
  const api = createApi(expandRequest, !exempt);

  routes.get(
    '/',
    showPage(expandRequest, messageExpander(expand, readRequest), createPage(onMissing), onFault),
  );
  routes.get('/api', api.text);
  routes.get('/api/chain', api.chain);
  routes.post('/api/expand', expandList(expand, readRequest, onFault, turns, exempt ? {} : openToAll));

  const description = { ...apiHeaders, ...openToAll };
  routes.get('/openapi.json', () => ({ headers: description, body: () => openapi }));

  // Scripts of other origins can read errors, too.
  const cors = ({ req }: Context) => (!exempt && req.path.startsWith('/api') ? openToAll : {});
  rejectOtherMethods(routes, (c, Allow) => {
    const isPreflight = c.req.method === 'OPTIONS' && c.req.header('Access-Control-Request-Method');
    if (isPreflight && 'Access-Control-Allow-Origin' in cors(c)) {
      return { status: 204, headers: { ...baseHeaders, ...preflightHeaders }, body: null };
    }
    const headers = { ...baseHeaders, ...cors(c), Allow };
    return { status: 405, headers, body: () => 'Method Not Allowed' };
  });
  routes.notFound((c) => {
    // The text that a visitor sees is the same, but leads back.
    const isVisit = c.req.header('Sec-Fetch-Mode') === 'navigate';
    return { status: 404, headers: baseHeaders, body: () => (isVisit ? lostPage : 'Page Not Found!') };
  });
  routes.onError((error, c) => {
    if (error instanceof ExpansionError) return errorResponse(c, error, cors(c));
    if (error instanceof HTTPException) {
      const headers = { ...apiHeaders, ...cors(c), ...noStore };
      return { status: error.status, headers, body: () => error.message };
    }
    onFault(error);
    return { status: 500, headers: { ...baseHeaders, ...cors(c) }, body: () => 'Something went wrong.' };
  });
  return routes.app;
}
