import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { headOf, send } from '../testing/send.ts';
import { openSession } from '../testing/session.ts';
import type { TestStack } from '../testing/test-stack.ts';

/** The rules of the tasks application, seen from outside through the proxy. */
export function tasksRules(stack: () => TestStack): void {
  const newSession = () => openSession(stack().tasksPort);
  const unique = (title: string) => `${title} ${randomUUID()}`;
  const added = async (title = unique('task')) => {
    const session = newSession();
    await session.add(title);
    const task = (await session.tasks()).find((listed) => listed.title === title);
    if (!task) throw new Error(`${title} is not in the list`);
    return { session, ...task };
  };
  const state = async (id: string) => (await newSession().tasks()).find((task) => task.id === id);

  describe('GET /', () => {
    test('is 200 and HTML', async () => {
      const { status, headers } = await send(stack().tasksPort, '/');
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^text\/html/);
    });

    test('tasks.localhost on the shared port is the same application', async () => {
      const { port } = stack();
      const there = openSession(port, `tasks.localhost:${port}`);
      const title = unique('by name');
      expect((await there.add(title)).status).toBe(302);
      expect((await newSession().tasks()).map((task) => task.title)).toContain(title);
    });
  });

  describe('POST /task', () => {
    test('is 302 with Location / and an empty body', async () => {
      const { status, headers, body } = await newSession().add(unique('new'));
      expect([status, headers.location, body]).toEqual([302, '/', '']);
    });
  });

  describe('GET /task/:id/finish and /task/:id/unfinish', () => {
    test('are 302 with Location / and an empty body, and are not cached', async () => {
      const { session, id } = await added();
      for (const action of ['finish', 'finish', 'unfinish', 'unfinish']) {
        const { status, headers, body } = await session.get(`/task/${id}/${action}`);
        expect([status, headers.location, body]).toEqual([302, '/', '']);
        expect(headers['cache-control']).toBe('no-store, no-cache');
        expect((await state(id))?.finished).toBe(action === 'finish');
      }
    });
  });

  describe('HEAD, conditions and ranges', () => {
    const ask = async (method: string, path: string, headers: Record<string, string>) => {
      const session = 'session=AAAAAAAAAAAAAAAAAAAAAA';
      const options = { method, headers: { Cookie: session, ...headers } };
      return headOf(await send(stack().tasksPort, path, options));
    };
    const paths = async () => {
      const { id } = await added('ö'.repeat(400));
      return [
        '/',
        '/tasks',
        `/tasks/${id}`,
        '/tasks/export',
        '/public/style.css',
        '/openapi.json',
        '/nothing',
      ];
    };

    describe.each([
      ['identity', {}],
      ['gzip', { 'Accept-Encoding': 'gzip' }],
      ['gzip, JSON', { 'Accept-Encoding': 'gzip', Accept: 'application/json' }],
    ] as [string, Record<string, string>][])('%s', (_name, headers) => {
      test('HEAD has the status and every header of GET', async () => {
        for (const path of await paths()) {
          const get = await ask('GET', path, headers);
          expect([path, await ask('HEAD', path, headers)]).toEqual([path, get]);
        }
      });

      test('a 304 has the ETag and the Vary of its 200', async () => {
        for (const path of await paths()) {
          const { status, etag, vary } = (await ask('GET', path, headers)) as Record<string, unknown>;
          if (typeof etag !== 'string' || status !== 200) continue;
          for (const known of [etag, '*']) {
            const not = (await ask('GET', path, { ...headers, 'If-None-Match': known })) as Record<
              string,
              unknown
            >;
            expect([path, known, not.status, not.etag]).toEqual([path, known, 304, etag]);
            expect(`${not.vary}`.split(', ').toSorted()).toEqual(`${vary}`.split(', ').toSorted());
          }
        }
      });

      test('Vary names each header once', async () => {
        for (const path of await paths()) {
          const { vary = '' } = (await ask('GET', path, headers)) as { vary?: string };
          const names = vary.toLowerCase().split(', ');
          expect([path, names]).toEqual([path, [...new Set(names)]]);
        }
      });
    });

    test.each(['bytes=0-1', 'bytes=0-1,3-4', 'bytes=0-0,-1,5-6', 'bytes=999999-', 'bytes=x', 'lines=1-2'])(
      'a public file ignores Range: %s',
      async (Range) => {
        for (const encoding of ['identity', 'gzip', 'br']) {
          const options = { headers: { Range, 'Accept-Encoding': encoding } };
          const { status, headers } = await send(stack().tasksPort, '/public/style.css', options);
          expect(status).toBe(200);
          expect(headers['content-type']).toMatch(/^text\/css/);
        }
      },
    );
  });

  describe('The resource convention at /tasks', () => {
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };

    test('create, show, update and destroy, in JSON', async () => {
      const session = newSession();
      const title = unique('resource');
      const created = await session.get('/tasks', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ title }),
      });
      expect(created.status).toBe(201);
      const { _id: id } = JSON.parse(created.body);
      const read = () => session.get(`/tasks/${id}`, { headers: json });
      const { body, headers } = await read();
      expect(JSON.parse(body)).toMatchObject({ _id: id, title, finished: 0 });
      const put = {
        method: 'PUT',
        headers: { ...json, 'If-Match': headers.etag },
        body: JSON.stringify({ finished: 1 }),
      };
      expect((await session.get(`/tasks/${id}`, put)).status).toBeLessThan(300);
      const remove = { method: 'DELETE', headers: { Accept: 'application/json' } };
      expect((await session.get(`/tasks/${id}`, remove)).status).toBeLessThan(300);
      expect((await read()).status).toBe(404);
    });
  });

  describe('Files and events', () => {
    test('a file far larger than a form is imported', async () => {
      const title = unique('imported');
      const body = [...Array.from({ length: 3_000 }, (_, i) => `- [x] ${title} ${i}`), title].join('\n');
      const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
      const response = await newSession().get('/tasks/import', { method: 'POST', headers, body });
      expect(JSON.parse(response.body)).toEqual({ imported: 3_001, refused: 0, problems: [] });
      expect((await newSession().tasks()).map((task) => task.title)).toContain(title);
      await newSession().get('/tasks/finished', { method: 'DELETE' });
    });

    test('a change is sent to the event stream of another page', async () => {
      const { tasksPort } = stack();
      const events = await fetch(`http://127.0.0.1:${tasksPort}/tasks/events`);
      const reader = (events.body as ReadableStream<Uint8Array>).getReader();
      let heard = '';
      const hears = async (what: RegExp) => {
        while (!what.test(heard)) heard += new TextDecoder().decode((await reader.read()).value);
      };
      await hears(/data: \d+/);
      const before = heard.match(/data: \d+/g)?.at(-1);
      await newSession().add(unique('live'));
      await hears(new RegExp(`data: (?!${before?.slice(6)}\\n)\\d+\\n`));
      await reader.cancel();
    });
  });

  describe('Its own port', () => {
    test.each(['localhost', 'tasks.localhost', '127.0.0.1', 'a-machine', 'a-machine.local'])(
      'answers to the name %s',
      async (name) => {
        const { tasksPort } = stack();
        expect((await send(tasksPort, '/', { host: `${name}:${tasksPort}` })).status).toBe(200);
      },
    );

    test('refuses names that anyone can point here: such a page would be same-origin with the list', async () => {
      const { tasksPort } = stack();
      const host = `evil.example:${tasksPort}`;
      const headers = { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
      const response = await send(tasksPort, '/', { host, headers });
      expect(response.status).toBe(421);
      expect(response.body).toContain('Use localhost or the address of this machine.');
    });
  });
}
