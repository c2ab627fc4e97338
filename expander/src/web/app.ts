import type { Log } from '@longhand/shared/log.ts';
import { annotateRoute } from '@longhand/shared/observe.ts';
import { rejectOtherMethods } from '@longhand/shared/other-methods.ts';
import { createTurns, type Turns } from '@longhand/shared/turns.ts';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ExpansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { type ChargeKey, createApi, requestExpander, requestReader } from './api.ts';
import { expandList } from './bulk-api.ts';
import { openapi } from './openapi.ts';
import { createPage, showPage } from './page.ts';
import { apiHeaders, baseHeaders, errorResponse, noStore, openToAll, textResponse } from './responses.ts';

export interface AppSettings {
  log?: Pick<Log, 'error'>;
  /** Whether a network is exempt from the guard. An exemption disables CORS and stale responses from caches. */
  exempt?: boolean;
  chargeKey?: ChargeKey | undefined;
  /** Lists take turns, because 10,000 cached lines would block the event loop. */
  turns?: Turns;
  onMissing?: ((fault: Error) => void) | undefined;
}

/** Creates the expander's HTTP application. */
export function createApp(expand: Expand, settings: AppSettings = {}): Hono {
  const { log = console, exempt = false, turns = createTurns(), chargeKey, onMissing } = settings;
  const app = new Hono().use(annotateRoute);
  const onFault = (fault: unknown) => log.error({ err: fault }, 'fault');
  const readRequest = requestReader(chargeKey);
  const expandRequest = requestExpander(expand, readRequest);
  const api = createApi(expandRequest, !exempt);

  app.get('/', showPage(expandRequest, createPage(onMissing), onFault));
  app.get('/api', api.text);
  app.get('/api/chain', api.chain);
  app.use('/api/expand', async (c, next) => {
    await next();
    // Error responses need CORS headers, too.
    if (!exempt) for (const [name, value] of Object.entries(openToAll)) c.res.headers.set(name, value);
  });
  app.post('/api/expand', expandList(expand, readRequest, onFault, turns));

  const description = { headers: { ...apiHeaders, ...openToAll } };
  app.get('/openapi.json', () => textResponse(openapi, description));

  rejectOtherMethods(app, (c, Allow) => {
    const open = !exempt && c.req.path.startsWith('/api');
    const headers = { ...baseHeaders, ...(open && openToAll), Allow };
    return textResponse('Method Not Allowed', { status: 405, headers });
  });
  app.notFound(() => textResponse('Page Not Found!', { status: 404, headers: baseHeaders }));
  app.onError((error, c) => {
    if (error instanceof ExpansionError) return errorResponse(c, error);
    if (error instanceof HTTPException) {
      return textResponse(error.message, { status: error.status, headers: { ...apiHeaders, ...noStore } });
    }
    onFault(error);
    return textResponse('Something went wrong.', { status: 500, headers: baseHeaders });
  });
  return app;
}
