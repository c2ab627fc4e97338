import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { resource } from './resource.ts';

/** Creates an application that records its routes in order. */
function registrations() {
  const routes: string[] = [];
  const on = (method: string) => (path: string, _handler: () => unknown) => routes.push(`${method} ${path}`);
  return { routes, app: { get: on('GET'), post: on('POST'), put: on('PUT'), delete: on('DELETE') } };
}

const handler = () => new Response();
const actions = ['destroy', 'update', 'create', 'edit', 'show', 'new', 'list'];
const everyAction = Object.fromEntries(actions.map((action) => [action, handler]));

describe('Convention C', () => {
  class Listing {
    #text = 'kept';
    list() {
      return new Response(this.#text);
    }
  }
  const collection = ['GET /notes', 'GET /notes/new'];
  const member = ['GET /notes/:id', 'GET /notes/:id/edit', 'POST /notes', 'PUT /notes/:id'];
  test.each<[_: string, mod: object, routes: string[]]>([
    [
      'all seven actions in the order of the table',
      everyAction,
      [...collection, ...member, 'DELETE /notes/:id'],
    ],
    ['only the actions in the module', { show: handler, create: handler }, ['GET /notes/:id', 'POST /notes']],
    ['only functions', { list: 'all', show: null, edit: undefined, create: handler }, ['POST /notes']],
    ['inherited actions', new Listing(), ['GET /notes']],
  ])('registers %s', (_, mod, expected) => {
    const { app, routes } = registrations();
    resource(app, 'notes', mod);
    expect(routes).toEqual(expected);
  });

  test('calls actions as methods of their module', async () => {
    const app = new Hono();
    resource(app, 'lists', new Listing());
    expect(await (await app.request('/lists')).text()).toBe('kept');
  });

  test('registers /new before /:id', async () => {
    const app = new Hono();
    resource(app, 'notes', { new: () => new Response('form'), show: () => new Response('note') });
    const text = async (path: string) => (await app.request(path)).text();
    expect([await text('/notes/new'), await text('/notes/7')]).toEqual(['form', 'note']);
  });

  test.each(['notes', 'v1/notes', 'a.b~c_d-e', 'A9'])('accepts the name %j', (name) => {
    const { app, routes } = registrations();
    resource(app, name, { list: handler });
    expect(routes).toEqual([`GET /${name}`]);
  });

  const invalid = ['', '/', '/notes', 'notes/', 'a//b', 'a b', ':id', '*', 'a?b', 'café', 'a\n'];
  test.each(invalid)('throws a TypeError for the name %j', (name) => {
    const { app, routes } = registrations();
    expect(() => resource(app, name, everyAction)).toThrow(TypeError);
    expect(routes).toEqual([]);
  });

  test.each([null, undefined, 7, 'list'])('throws a TypeError for the module %j', (mod) => {
    expect(() => resource(registrations().app, 'notes', mod as never)).toThrow(TypeError);
  });
});
