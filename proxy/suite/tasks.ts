import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../testing/ask.ts';
import type { TestStack } from '../testing/test-stack.ts';
import { visitor } from '../testing/visitor.ts';

/** The rules of the tasks application as they are seen from outside, through the proxy. */
export function tasksRules(stack: () => TestStack): void {
  const somebody = () => visitor(stack().tasksPort);
  const unique = (title: string) => `${title} ${randomUUID()}`;
  const added = async (title = unique('task')) => {
    const one = somebody();
    await one.add(title);
    const task = (await one.tasks()).find((listed) => listed.title === title);
    if (!task) throw new Error(`${title} is not in the list`);
    return { one, ...task };
  };
  const state = async (id: string) => (await somebody().tasks()).find((task) => task.id === id);

  describe('GET /', () => {
    test('is 200 and HTML', async () => {
      const { status, headers } = await ask(stack().tasksPort, '/');
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^text\/html/);
    });

    test('tasks.localhost on the port for all names is the same application', async () => {
      const { port } = stack();
      const there = visitor(port, `tasks.localhost:${port}`);
      const title = unique('by name');
      expect((await there.add(title)).status).toBe(302);
      expect((await somebody().tasks()).map((task) => task.title)).toContain(title);
    });

    test('unfinished tasks come first, then the newest first, numbers in ids notwithstanding', async () => {
      const titles = Array.from({ length: 12 }, (_, i) => unique(`order ${i}`));
      for (const title of titles) await somebody().add(title);
      const ours = async () => (await somebody().tasks()).filter((task) => titles.includes(task.title));
      expect((await ours()).map((task) => task.title)).toEqual(titles.toReversed());
      const [newest, , third] = await ours();
      for (const task of [newest, third]) await somebody().get(task?.link ?? '');
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
      const { one, id, link } = await added();
      await one.get(link);
      expect(await state(id)).toMatchObject({ finished: true, link: `/task/${id}/unfinish` });
    });

    test('a title is text, whatever it looks like', async () => {
      const title = unique(`<script>alert(1)</script> & "quotes" 'too' 日本`);
      const { one } = await added(title);
      expect((await one.get('/')).body).not.toContain('<script>alert(1)');
    });
  });

  describe('POST /task', () => {
    test('is 302 with Location / and an empty body', async () => {
      const { status, headers, body } = await somebody().add(unique('new'));
      expect([status, headers.location, body]).toEqual([302, '/', '']);
    });

    test('without the token, or with a wrong one, it is 403 with the form again, refilled, and nothing is added', async () => {
      const one = somebody();
      const title = unique('forged');
      const mine = await one.token();
      const another = await somebody().token();
      for (const _csrf of ['', 'wrong', another, `${mine}x`]) {
        const { status, body } = await one.post({ title, _csrf });
        expect(status).toBe(403);
        expect(body).toContain(title);
        expect(body).toContain('name="_csrf"');
      }
      expect((await one.tasks()).map((task) => task.title)).not.toContain(title);
    });

    test('a blank, overlong or unprintable title is 422 with what was typed and the reason', async () => {
      const one = somebody();
      for (const title of ['', '   ', 'x'.repeat(501), 'a\u0000b', 'a\nb']) {
        const { status, body } = await one.add(title);
        expect(status).toBe(422);
        expect(body).toContain('role="alert"');
      }
      expect((await one.add('💡'.repeat(500))).status).toBe(302);
    });

    test('a body over 64 KiB is 413', async () => {
      const { status } = await somebody().post({ title: 'x'.repeat(64 * 1024) });
      expect(status).toBe(413);
    });

    test('a form from another site is 403', async () => {
      const one = somebody();
      const _csrf = await one.token();
      const headers = { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' };
      expect((await one.post({ title: unique('foreign'), _csrf }, { headers })).status).toBe(403);
    });
  });

  describe('GET /task/:id/finish and /task/:id/unfinish', () => {
    test('are 302 with Location / and an empty body, and are not kept by caches', async () => {
      const { one, id } = await added();
      for (const action of ['finish', 'finish', 'unfinish', 'unfinish']) {
        const { status, headers, body } = await one.get(`/task/${id}/${action}`);
        expect([status, headers.location, body]).toEqual([302, '/', '']);
        expect(headers['cache-control']).toBe('no-store');
        expect((await state(id))?.finished).toBe(action === 'finish');
      }
    });

    test('an unknown or misspelt id is 404, and no task comes of it', async () => {
      const { one, id } = await added();
      const before = (await one.tasks()).length;
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
        const { status } = await one.get(`/task/${other}/finish`);
        expect([other, status >= 400 && status < 500]).toEqual([other, true]);
      }
      expect((await one.get('/task/999999999/finish')).status).toBe(404);
      expect(await one.tasks()).toHaveLength(before);
    });

    test('a prefetch, another site and HEAD change nothing', async () => {
      const { one, id } = await added();
      const path = `/task/${id}/finish`;
      const asked: Record<string, string>[] = [
        { 'Sec-Purpose': 'prefetch;prerender' },
        { Purpose: 'prefetch' },
        { 'X-Purpose': 'preview' },
        { 'X-Sec-Purpose': 'prefetch' },
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site' },
      ];
      for (const headers of asked) expect((await one.get(path, { headers })).status).toBe(403);
      await one.get(path, { method: 'HEAD' });
      expect((await state(id))?.finished).toBe(false);
    });
  });

  describe('GET /public/<file path>', () => {
    test('serves the styles', async () => {
      const { tasksPort } = stack();
      const page = await ask(tasksPort, '/');
      const href = /<link rel="stylesheet" href="([^"]+)"/.exec(page.body)?.[1] ?? '';
      expect(href).toMatch(/^\/public\//);
      const { status, headers } = await ask(tasksPort, href);
      expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/css/)]);
    });

    test('leads out of the public directory in no encoding', async () => {
      const up = ['..', '%2e%2e', '.%2e', '%2E.', '%252e%252e', '..%00', '%c0%ae%c0%ae'];
      for (const dots of up) {
        for (const slash of ['/', '%2f', '%5c', '\\', '%252f', '//']) {
          const { status, body } = await ask(stack().tasksPort, `/public/${dots}${slash}package.json`);
          expect([400, 404]).toContain(status);
          expect(body).not.toContain('"dependencies"');
        }
      }
    });

    test('knows no directory and no dot file', async () => {
      for (const path of ['/public', '/public/', '/public/.', '/public/.git']) {
        expect([path, (await ask(stack().tasksPort, path)).status]).toEqual([path, 404]);
      }
    });
  });

  describe('The resource convention at /tasks', () => {
    const json = { Accept: 'application/json', 'Content-Type': 'application/json' };

    test('list, new, show, edit, create, update and destroy, in JSON', async () => {
      const one = somebody();
      const title = unique('resource');
      const created = await one.get('/tasks', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ title }),
      });
      expect(created.status).toBe(201);
      const { _id: id } = JSON.parse(created.body);
      const show = async () => JSON.parse((await one.get(`/tasks/${id}`, { headers: json })).body);
      expect(await show()).toMatchObject({ _id: id, title, finished: 0 });
      expect((await show()).created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect((await show()).updated_at).toBeUndefined();
      expect((await one.get('/tasks', { headers: json })).body).toContain(title);
      expect((await one.get('/tasks/new')).body).toContain('<form');
      expect((await one.get(`/tasks/${id}/edit`)).body).toContain(title);
      const { etag = '' } = (await one.get(`/tasks/${id}`, { headers: json })).headers;
      const put = {
        method: 'PUT',
        headers: { ...json, 'If-Match': etag },
        body: JSON.stringify({ finished: 1 }),
      };
      expect((await one.get(`/tasks/${id}`, put)).status).toBeLessThan(300);
      expect(await show()).toMatchObject({ finished: 1, updated_at: expect.any(String) });
      expect(
        (await one.get(`/tasks/${id}`, { method: 'DELETE', headers: { Accept: 'application/json' } })).status,
      ).toBeLessThan(300);
      expect((await one.get(`/tasks/${id}`, { headers: json })).status).toBe(404);
    });

    test('a write from another origin is refused', async () => {
      const headers = { ...json, Origin: 'http://evil.example' };
      const body = JSON.stringify({ title: unique('foreign') });
      expect((await somebody().get('/tasks', { method: 'POST', headers, body })).status).toBe(403);
    });
  });

  describe('Files and events', () => {
    test('a file far longer than a form is imported', async () => {
      const title = unique('imported');
      const body = [...Array.from({ length: 3_000 }, (_, i) => `- [x] ${title} ${i}`), title].join('\n');
      const headers = { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' };
      const answer = await somebody().get('/tasks/import', { method: 'POST', headers, body });
      expect(JSON.parse(answer.body)).toEqual({ imported: 3_001, refused: 0, problems: [] });
      expect((await somebody().tasks()).map((task) => task.title)).toContain(title);
      await somebody().get('/tasks/finished', { method: 'DELETE' });
    });

    test('a change shows in the events of another page within a second', async () => {
      const { tasksPort } = stack();
      const events = await fetch(`http://127.0.0.1:${tasksPort}/tasks/events`);
      const reader = (events.body as ReadableStream<Uint8Array>).getReader();
      let heard = '';
      const hears = async (what: RegExp) => {
        while (!what.test(heard)) heard += new TextDecoder().decode((await reader.read()).value);
      };
      await hears(/data: \d+/);
      const before = heard.match(/data: \d+/g)?.at(-1);
      await somebody().add(unique('live'));
      await hears(new RegExp(`data: (?!${before?.slice(6)}\\n)\\d+\\n`));
      await reader.cancel();
    });
  });

  describe('The port of its own', () => {
    test.each(['localhost', 'tasks.localhost', '127.0.0.1', 'a-machine', 'a-machine.local'])(
      'answers by the name %s',
      async (name) => {
        const { tasksPort } = stack();
        expect((await ask(tasksPort, '/', { host: `${name}:${tasksPort}` })).status).toBe(200);
      },
    );

    test('does not answer by a name that anybody could lead here: such a page would be of one origin with the list', async () => {
      const { tasksPort } = stack();
      const host = `evil.example:${tasksPort}`;
      const headers = { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
      const answer = await ask(tasksPort, '/', { host, headers });
      expect(answer.status).toBe(421);
      expect(answer.body).toContain('Use localhost or the address of this machine.');
    });
  });

  describe('Everything else', () => {
    test('an unknown path is 404, and another method on a known path 405 with Allow', async () => {
      const { tasksPort } = stack();
      expect((await ask(tasksPort, '/nowhere')).status).toBe(404);
      for (const [method, path] of [
        ['DELETE', '/'],
        ['PUT', '/task'],
        ['GET', '/task'],
        ['PATCH', '/tasks/1'],
        ['POST', '/task/1/finish'],
      ] as const) {
        const { status, headers } = await ask(tasksPort, path, { method });
        expect([method, path, status]).toEqual([method, path, 405]);
        expect(headers.allow).toBeTruthy();
      }
    });
  });
}
