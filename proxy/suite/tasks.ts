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

    test('unfinished tasks come first, then the newest, in numeric order of their ids', async () => {
      const titles = Array.from({ length: 12 }, (_, i) => unique(`order ${i}`));
      for (const title of titles) await newSession().add(title);
      const ours = async () => (await newSession().tasks()).filter((task) => titles.includes(task.title));
      expect((await ours()).map((task) => task.title)).toEqual(titles.toReversed());
      const [newest, , third] = await ours();
      for (const task of [newest, third]) await newSession().get(task?.link ?? '');
      const order = (await ours()).map(({ title, finished }) => [titles.indexOf(title), finished]);
      expect(order).toEqual([
        ...[10, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((i) => [i, false]),
        ...[11, 9].map((i) => [i, true]),
      ]);
    });

    test('an open task shows its title and a link to /task/<id>/finish', async () => {
      const { id, finished, link } = await added();
      expect([finished, link]).toEqual([false, `/task/${id}/finish`]);
    });

    test('a finished task is struck through, has the class "finished" and a link to /task/<id>/unfinish', async () => {
      const { session, id, link } = await added();
      await session.get(link);
      expect(await state(id)).toMatchObject({ finished: true, link: `/task/${id}/unfinish` });
    });

    test('a title is shown as text, whatever it contains', async () => {
      const title = unique(`<script>alert(1)</script> & "quotes" 'too' 日本`);
      const { session } = await added(title);
      expect((await session.get('/')).body).not.toContain('<script>alert(1)');
    });
  });

  describe('POST /task', () => {
    test('is 302 with Location / and an empty body', async () => {
      const { status, headers, body } = await newSession().add(unique('new'));
      expect([status, headers.location, body]).toEqual([302, '/', '']);
    });

    test('without the token, or with a wrong one, it is 403 with the refilled form, and nothing is added', async () => {
      const session = newSession();
      const title = unique('forged');
      const mine = await session.token();
      const another = await newSession().token();
      for (const _csrf of ['', 'wrong', another, `${mine}x`]) {
        const { status, body } = await session.post({ title, _csrf });
        expect(status, _csrf).toBe(403);
        expect(body).toContain(title);
        expect(body).toContain('name="_csrf"');
      }
      expect((await session.tasks()).map((task) => task.title)).not.toContain(title);
    });

    test.each([
      ['an empty title', ''],
      ['a blank title', '   '],
      ['a title of 501 characters', 'x'.repeat(501)],
      ['a title with a NUL', 'a\u0000b'],
      ['a title of two lines', 'a\nb'],
    ])('%s is 422 with the refilled form and the reason', async (_, title) => {
      const { status, body } = await newSession().add(title);
      expect(status).toBe(422);
      expect(body).toContain('role="alert"');
    });

    test('a title of 500 characters beyond the basic plane is accepted', async () => {
      expect((await newSession().add('💡'.repeat(500))).status).toBe(302);
    });

    test('a body over 64 KiB is 413', async () => {
      const { status } = await newSession().post({ title: 'x'.repeat(64 * 1024) });
      expect(status).toBe(413);
    });

    test('a form from another site is 403', async () => {
      const session = newSession();
      const _csrf = await session.token();
      const headers = { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' };
      expect((await session.post({ title: unique('foreign'), _csrf }, { headers })).status).toBe(403);
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

    test('an unknown or malformed id is 404, and creates no task', async () => {
      const { session, id } = await added();
      const before = (await session.tasks()).length;
      for (const other of [
        '0',
        '-1',
        'nothing',
        '999999999',
        `0${id}`,
        `${id}%20`,
        '%00x',
        `${id}.0`,
        '../x',
      ]) {
        const { status } = await session.get(`/task/${other}/finish`);
        expect([other, status >= 400 && status < 500]).toEqual([other, true]);
      }
      expect((await session.get('/task/999999999/finish')).status).toBe(404);
      expect(await session.tasks()).toHaveLength(before);
    });

    test.each([
      ['Sec-Purpose', 'prefetch;prerender'],
      ['Purpose', 'prefetch'],
      ['X-Purpose', 'preview'],
      ['X-Sec-Purpose', 'prefetch'],
      ['Sec-Fetch-Site', 'cross-site'],
      ['Sec-Fetch-Site', 'same-site'],
    ])('a request with %s: %s is 403 and changes nothing', async (name, value) => {
      const { session, id } = await added();
      const { status } = await session.get(`/task/${id}/finish`, { headers: { [name]: value } });
      expect(status).toBe(403);
      expect((await state(id))?.finished).toBe(false);
    });

    test('HEAD changes nothing', async () => {
      const { session, id } = await added();
      await session.get(`/task/${id}/finish`, { method: 'HEAD' });
      expect((await state(id))?.finished).toBe(false);
    });
  });

  describe('HEAD, conditions and ranges', () => {
    const ask = async (method: string, path: string, headers: Record<string, string>) => {
      const session = 'session=AAAAAAAAAAAAAAAAAAAAAA';
      const options = { method, headers: { Cookie: session, ...headers } };
      return headOf(await send(stack().tasksPort, path, options));
    };
    const paths = async () => {
      const long = await added('ö'.repeat(400));
      return [
        ...[
          '/',
          '/?filter=finished',
          '/tasks/partial',
          '/tasks',
          '/tasks/new',
          '/tasks/import',
          '/tasks/export',
        ],
        ...[
          `/tasks/${long.id}`,
          `/tasks/${long.id}/edit`,
          `/task/${long.id}/unfinish`,
          '/tasks/export?format=json',
        ],
        ...[
          '/public/style.css',
          '/public/icon.svg',
          '/openapi.json',
          '/tasks/999999',
          '/nothing',
          '/public/none',
        ],
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

  describe('GET /public/<file path>', () => {
    test('serves the styles', async () => {
      const { tasksPort } = stack();
      const page = await send(tasksPort, '/');
      const href = /<link rel="stylesheet" href="([^"]+)"/.exec(page.body)?.[1] ?? '';
      expect(href).toMatch(/^\/public\//);
      const { status, headers } = await send(tasksPort, href);
      expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/css/)]);
    });

    test('never leaves the public directory, in any encoding', async () => {
      const up = ['..', '%2e%2e', '.%2e', '%2E.', '%252e%252e', '..%00', '%c0%ae%c0%ae'];
      for (const dots of up) {
        for (const slash of ['/', '%2f', '%5c', '\\', '%252f', '//']) {
          const { status, body } = await send(stack().tasksPort, `/public/${dots}${slash}package.json`);
          expect([400, 404]).toContain(status);
          expect(body).not.toContain('"dependencies"');
        }
      }
    });

    test('serves no directory and no dot file', async () => {
      for (const path of ['/public', '/public/', '/public/.', '/public/.git']) {
        expect([path, (await send(stack().tasksPort, path)).status]).toEqual([path, 404]);
      }
    });
  });

  describe('The resource convention at /tasks', () => {
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };

    test('list, new, show, edit, create, update and destroy, in JSON', async () => {
      const session = newSession();
      const title = unique('resource');
      const created = await session.get('/tasks', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ title }),
      });
      expect(created.status).toBe(201);
      const { _id: id } = JSON.parse(created.body);
      const show = async () => JSON.parse((await session.get(`/tasks/${id}`, { headers: json })).body);
      expect(await show()).toMatchObject({ _id: id, title, finished: 0 });
      expect((await show()).created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect((await show()).updated_at).toBeUndefined();
      expect((await session.get('/tasks', { headers: json })).body).toContain(title);
      expect((await session.get('/tasks/new')).body).toContain('<form');
      expect((await session.get(`/tasks/${id}/edit`)).body).toContain(title);
      const { etag = '' } = (await session.get(`/tasks/${id}`, { headers: json })).headers;
      const put = {
        method: 'PUT',
        headers: { ...json, 'If-Match': etag },
        body: JSON.stringify({ finished: 1 }),
      };
      expect((await session.get(`/tasks/${id}`, put)).status).toBeLessThan(300);
      expect(await show()).toMatchObject({ finished: 1, updated_at: expect.any(String) });
      expect(
        (await session.get(`/tasks/${id}`, { method: 'DELETE', headers: { Accept: 'application/json' } }))
          .status,
      ).toBeLessThan(300);
      expect((await session.get(`/tasks/${id}`, { headers: json })).status).toBe(404);
    });

    test('a write from another origin is refused', async () => {
      const headers = { ...json, Origin: 'http://evil.example' };
      const body = JSON.stringify({ title: unique('foreign') });
      expect((await newSession().get('/tasks', { method: 'POST', headers, body })).status).toBe(403);
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

  describe('Everything else', () => {
    test('an unknown path is 404, and another method on a known path is 405 with Allow', async () => {
      const { tasksPort } = stack();
      expect((await send(tasksPort, '/nowhere')).status).toBe(404);
      for (const [method, path] of [
        ['DELETE', '/'],
        ['PUT', '/task'],
        ['GET', '/task'],
        ['PATCH', '/tasks/1'],
        ['POST', '/task/1/finish'],
      ] as const) {
        const { status, headers } = await send(tasksPort, path, { method });
        expect([method, path, status]).toEqual([method, path, 405]);
        expect(headers.allow).toBeTruthy();
      }
    });
  });
}
