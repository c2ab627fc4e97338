/** The seven routes of a resource, registered by the `convention` or `by hand`. */
import { resource } from '@longhand/shared/resource.ts';
import { type Context, type Handler, Hono } from 'hono';
import { serveWorker } from './serve.ts';

const respond = (action: string) => (c: Context) => c.text(`${action} ${c.req.param('id') ?? ''}`);
const things = {
  list: respond('list'),
  new: respond('new'),
  show: respond('show'),
  edit: respond('edit'),
  create: respond('create'),
  update: respond('update'),
  destroy: respond('destroy'),
};

const app = new Hono();
if (process.argv[2] === 'convention') {
  resource<Handler>(app, 'things', things);
} else {
  app.get('/things', things.list);
  app.get('/things/new', things.new);
  app.get('/things/:id', things.show);
  app.get('/things/:id/edit', things.edit);
  app.post('/things', things.create);
  app.put('/things/:id', things.update);
  app.delete('/things/:id', things.destroy);
}
serveWorker(app);
