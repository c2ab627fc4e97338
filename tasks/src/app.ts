import { hash } from 'node:crypto';
import { annotateRoute } from '@longhand/shared/observe.ts';
import { rejectOtherMethods } from '@longhand/shared/other-methods.ts';
import { resource } from '@longhand/shared/resource.ts';
import { type Handler, Hono } from 'hono';
import { eventsHandlers } from './handlers/events.ts';
import { loginHandlers, requireLogin } from './handlers/login.ts';
import { removalsHandlers } from './handlers/removals.ts';
import { tasksHandlers } from './handlers/tasks.ts';
import { transferHandlers } from './handlers/transfer.ts';
import { TaskError } from './task/errors.ts';
import type { TasksEnv } from './web/context.ts';
import type { Dependencies } from './web/dependencies.ts';
import { errorHandler, methodNotAllowed } from './web/error-response.ts';
import { respondIcon } from './web/icon.ts';
import { openapi } from './web/openapi.ts';
import { tagged } from './web/responses.ts';

const description = openapi();
const descriptionTag = `W/"${hash('sha256', description)}"`;

export function createApp(dependencies: Dependencies): Hono<TasksEnv> {
  const { files, auth } = dependencies;
  const tasks = tasksHandlers(dependencies);
  const transfer = transferHandlers(dependencies);
  const events = eventsHandlers(dependencies);
  const removals = removalsHandlers(dependencies);
  const failed = errorHandler(dependencies);

  const app = new Hono<TasksEnv>();
  app.use(annotateRoute);
  if (auth) app.use(requireLogin(auth));

  app.get('/', tasks.index);
  app.post('/task', tasks.add);
  app.get('/task/:id/finish', tasks.finish);
  app.get('/task/:id/unfinish', tasks.unfinish);
  app.get('/public/*', (c) => files.respond(c) ?? c.notFound());

  if (auth) {
    const login = loginHandlers({ ...dependencies, auth });
    app.get('/login', login.new);
    app.post('/login', login.create);
    app.post('/logout', login.destroy);
  }

  app.get('/icon', (c) => respondIcon(c, files.href('icon.svg')));
  app.get('/tasks/partial', tasks.partial);
  app.get('/tasks/events', events.stream);
  app.get('/tasks/export', transfer.export);
  app.get('/tasks/import', transfer.new);
  app.post('/tasks/import', transfer.import);
  app.delete('/tasks/finished', removals.clearFinished);
  app.post('/tasks/finished', removals.clearFinished);
  app.get('/tasks/removals', removals.list);
  app.post('/tasks/restore', removals.restore);
  app.get('/openapi.json', (c) => tagged(c, descriptionTag, 'application/json', description));
  // This route must precede `resource`, whose `/tasks/:id` would match `PUT /tasks/new`.
  app.get('/tasks/new', tasks.new);
  rejectOtherMethods(app, methodNotAllowed);

  resource<Handler<TasksEnv>>(app, 'tasks', tasks);
  app.post('/tasks/:id', tasks.submit);
  rejectOtherMethods(app, methodNotAllowed);

  app.notFound((c) => failed(new TaskError('unknown_path', 'There is no such page.'), c));
  app.onError(failed);
  return app;
}
