/** The seven routes of a resource, registered by the `convention` or `by hand`. */
import { serve } from '@hono/node-server';
import { resource } from '@longhand/shared/resource.ts';
import { type Context, type Handler, Hono } from 'hono';

const answer = (action: string) => (c: Context) => c.text(`${action} ${c.req.param('id') ?? ''}`);
const things = {
  list: answer('list'),
  new: answer('new'),
  show: answer('show'),
  edit: answer('edit'),
  create: answer('create'),
  update: answer('update'),
  destroy: answer('destroy'),
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
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
