import { hash } from 'node:crypto';
import { rejectOtherMethods } from '@longhand/shared/other-methods.ts';
import { resource } from '@longhand/shared/resource.ts';
import { type App, createRoutes } from '@longhand/shared/routes.ts';
import { eventsHandlers } from './handlers/events.ts';
import { createImports } from './handlers/imports.ts';
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

export function createApp(dependencies: Dependencies): App<TasksEnv> {
  const { files, auth, turns } = dependencies;
  const imports = createImports();
  const tasks = tasksHandlers(dependencies, imports);
  const transfer = transferHandlers(dependencies, imports);
  const events = eventsHandlers(dependencies);
  const removals = removalsHandlers(dependencies);
  const failed = errorHandler(dependencies);

  const routes = createRoutes<TasksEnv>(turns);
  if (auth) routes.check(requireLogin(auth));

  routes.get('/', tasks.index);
  routes.post('/task', tasks.add);
  routes.get('/task/:id/finish', tasks.finish);
  routes.get('/task/:id/unfinish', tasks.unfinish);
  routes.get('/public/*', (c) => files.respond(c) ?? unknownPath());

  if (auth) {
    const login = loginHandlers({ ...dependencies, auth });
    routes.get('/login', login.new);
    routes.post('/login', login.create);
    routes.post('/logout', login.destroy);
  }

  routes.get('/icon', (c) => respondIcon(c, files.href('icon.svg')));
  routes.get('/tasks/partial', tasks.partial);
  routes.get('/tasks/events', events.stream);
  routes.get('/tasks/export', transfer.export);
  routes.get('/tasks/import', transfer.new);
  routes.post('/tasks/import', transfer.import);
  routes.delete('/tasks/finished', removals.clearFinished);
  routes.post('/tasks/finished', removals.clearFinished);
  routes.post('/tasks/added', removals.removeAdded);
  routes.get('/tasks/removals', removals.list);
  routes.post('/tasks/restore', removals.restore);
  routes.get('/openapi.json', (c) => tagged(c, descriptionTag, 'application/json', () => description));
  // This route must precede `resource`, whose `/tasks/:id` would match `PUT /tasks/new`.
  routes.get('/tasks/new', tasks.new);
  rejectOtherMethods(routes, methodNotAllowed);

  resource(routes, 'tasks', tasks);
  routes.post('/tasks/:id', tasks.submit);
  rejectOtherMethods(routes, methodNotAllowed);

  routes.notFound(unknownPath);
  routes.onError(failed);
  return routes.app;
}

function unknownPath(): never {
  throw new TaskError('unknown_path', 'There is no such page.');
}
