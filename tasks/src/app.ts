import { readFileSync } from 'node:fs';
import type { Log } from '@longhand/shared/log.ts';
import { annotateRoute } from '@longhand/shared/observe.ts';
import { resource } from '@longhand/shared/resource.ts';
import { type Handler, Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { eventsController } from './controllers/events.ts';
import { removalsController } from './controllers/removals.ts';
import { type TasksDependencies, tasksController } from './controllers/tasks.ts';
import { transferController } from './controllers/transfer.ts';
import { Refusal } from './task/errors.ts';
import type { Changes } from './task/task.ts';
import type { TasksEnv } from './web/context.ts';
import { refusedWith } from './web/error-response.ts';
import { respond } from './web/responses.ts';
import type { PublicFiles } from './web/static-files.ts';

/** The description of the JSON interface (OpenAPI 3.1). */
const openapi = readFileSync(`${import.meta.dirname}/web/openapi.json`, 'utf8');

export interface AppDependencies extends TasksDependencies {
  changes: Changes;
  /** Ends what would go on for ever. */
  signal: AbortSignal;
  files: PublicFiles;
  log: Log;
}

export function createApp({ files, log, ...dependencies }: AppDependencies): Hono<TasksEnv> {
  const app = new Hono<TasksEnv>().use(annotateRoute);
  const tasks = tasksController(dependencies);
  const transfer = transferController(dependencies);
  const events = eventsController(dependencies);
  const removals = removalsController(dependencies);
  const refused = refusedWith(dependencies);

  app.get('/', tasks.index);
  app.post('/task', tasks.add);
  app.get('/task/:id/finish', tasks.finish);
  app.get('/task/:id/unfinish', tasks.unfinish);
  app.get('/public/*', (c) => files.respond(c) ?? c.notFound());

  app.get('/tasks/partial', tasks.partial);
  app.get('/tasks/events', events.stream);
  app.get('/tasks/export', transfer.export);
  app.get('/tasks/import', transfer.new);
  app.post('/tasks/import', transfer.import);
  app.delete('/tasks/finished', removals.clearFinished);
  app.post('/tasks/finished', removals.clearFinished);
  app.post('/tasks/restore', removals.restore);
  app.use('/tasks/:name', (c, next) => {
    const allowed = named.get(c.req.param('name'));
    if (allowed === undefined || allowed.split(', ').includes(c.req.method)) return next();
    return refused(c, ...notAllowed(c.req.method, allowed));
  });
  resource<Handler<TasksEnv>>(app, 'tasks', tasks);
  app.post('/tasks/:id', tasks.submit);
  app.get('/openapi.json', (c) => respond(c, openapi, 200, { 'Content-Type': 'application/json' }));

  const otherMethods = methodNotAllowed({
    app,
    onMethodNotAllowed: (c, allowed) => refused(c, ...notAllowed(c.req.method, allowed.join(', '))),
  });
  app.notFound(async (c) => {
    await otherMethods(c, async () => {
      c.res = await refused(c, new Refusal('unknown_path', 'There is no such page.'));
    });
    return c.res;
  });
  app.onError((error, c) => {
    // Who went away before the request had arrived reads no answer; the log does.
    if (c.env?.incoming?.readableAborted && !(error instanceof Refusal)) return respond(c, null, 499);
    if (!(error instanceof Refusal)) log.error({ err: error }, 'a request failed');
    else if (error.code === 'store_unavailable') log.warn({ err: error.cause }, 'the store did not answer');
    return refused(
      c,
      error instanceof Refusal ? error : new Refusal('internal', 'Something went wrong here.'),
    );
  });
  return app;
}

/** What a path answers where it has no route for `method`. */
function notAllowed(method: string, Allow: string): [Refusal, { Allow: string }] {
  const words =
    method === 'GET'
      ? `There is no page to see here: this address takes ${Allow} only.`
      : `This address does not take ${method}, only ${Allow}.`;
  return [new Refusal('method_not_allowed', words), { Allow }];
}

/** Names beside the ids under `/tasks/`, with all methods they take: for any other one, `:id` would match. */
const named = new Map([
  ['partial', 'GET, HEAD'],
  ['events', 'GET, HEAD'],
  ['export', 'GET, HEAD'],
  ['import', 'GET, HEAD, POST'],
  ['finished', 'DELETE, POST'],
  ['restore', 'POST'],
  ['new', 'GET, HEAD'],
]);
