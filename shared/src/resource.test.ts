import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { resource } from './resource.ts';

/** An application that only remembers what is registered, in order. */
function registrations() {
  const routes: string[] = [];
  const on = (method: string) => (path: string, _handler: () => unknown) => routes.push(`${method} ${path}`);
  return { routes, app: { get: on('GET'), post: on('POST'), put: on('PUT'), delete: on('DELETE') } };
}

const handler = () => new Response();
const everyAction = {
  destroy: handler,
  update: handler,
  create: handler,
  edit: handler,
  show: handler,
  new: handler,
  list: handler,
};

describe('Convention C', () => {
  class Listing {
    list() {
      return new Response();
    }
  }
  test.each<[what: string, mod: object, routes: string[]]>([
    [
      'the seven routes are registered in the order of the table, new before :id',
      everyAction,
      [
        'GET /notes',
        'GET /notes/new',
        'GET /notes/:id',
        'GET /notes/:id/edit',
        'POST /notes',
        'PUT /notes/:id',
        'DELETE /notes/:id',
      ],
    ],
    [
      'only the actions that the module provides are registered',
      { show: handler, create: handler },
      ['GET /notes/:id', 'POST /notes'],
    ],
    [
      'a member that is no function is not registered',
      { list: 'all of them', show: null, edit: undefined, create: handler },
      ['POST /notes'],
    ],
    ['an inherited action is registered', new Listing(), ['GET /notes']],
  ])('%s', (_, mod, expected) => {
    const { app, routes } = registrations();
    resource(app, 'notes', mod);
    expect(routes).toEqual(expected);
  });

  test('an action is called as a method of its module', async () => {
    class Notes {
      #text = 'kept';
      list() {
        return new Response(this.#text);
      }
    }
    const app = new Hono();
    resource(app, 'notes', new Notes());
    expect(await (await app.request('/notes')).text()).toBe('kept');
  });

  test('in an application, /new is not taken for an id', async () => {
    const app = new Hono();
    resource(app, 'notes', { new: () => new Response('form'), show: () => new Response('note') });
    expect(await (await app.request('/notes/new')).text()).toBe('form');
    expect(await (await app.request('/notes/7')).text()).toBe('note');
  });

  test.each(['notes', 'v1/notes', 'a.b~c_d-e', 'A9'])('the name %j is accepted', (name) => {
    const { app, routes } = registrations();
    resource(app, name, { list: handler });
    expect(routes).toEqual([`GET /${name}`]);
  });

  test.each(['', '/', '/notes', 'notes/', 'a//b', 'a b', ':id', '*', 'a?b', 'café', 'a\n'])(
    'the name %j is a TypeError',
    (name) => {
      const { app, routes } = registrations();
      expect(() => resource(app, name, everyAction)).toThrow(TypeError);
      expect(routes).toEqual([]);
    },
  );

  test.each([null, undefined, 7, 'list'])('the module %j is a TypeError', (mod) => {
    expect(() => resource(registrations().app, 'notes', mod as never)).toThrow(TypeError);
  });
});
