import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { open, send } from '../testing/send.ts';
import { createPieceQueue, type Piece, type Pieces } from './pieces.ts';
import { createRoutes, type LazyResponse, queryOf, takeTurn } from './routes.ts';
import { serve } from './serve.ts';
import { noTurns, type Turns } from './turns.ts';

const served: LazyResponse = { headers: { 'Content-Type': 'text/plain' }, body: () => 'served' };

/** Creates routes whose requests wait until the test grants their turns. `log` records what happens. */
function waitingRoutes() {
  const log: string[] = [];
  const pending: (() => void)[] = [];
  const turns: Turns = (clients) => {
    log.push(`turn of ${[...clients()].join()}`);
    return new Promise((resolve) => pending.push(resolve));
  };
  const grant = async () => {
    await expect.poll(() => pending.length).toBeGreaterThan(0);
    pending.shift()?.();
    for (let i = 0; i < 5; i += 1) await nextTurn();
  };
  return { log, grant, pending, ...createRoutes(turns) };
}

/** Serves the routes until the test ends. */
async function serving({ app }: Pick<ReturnType<typeof createRoutes>, 'app'>): Promise<number> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return (await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal })).port;
}

const headers = { 'X-Forwarded-For': '192.0.2.1' };

describe('a request takes a turn before it is read, and another before its response is made', () => {
  test.each(['/', '/none', '/fault', '/early'])('%s', async (path) => {
    const { log, grant, app, get, check, notFound, onError } = waitingRoutes();
    const making = (status: number): LazyResponse => ({
      ...served,
      status,
      body() {
        log.push('made');
        return 'body';
      },
    });
    check((c) => {
      log.push('read');
      return c.req.path === '/early' ? making(401) : undefined;
    });
    get('/', () => making(200));
    get('/fault', () => {
      throw new Error('a fault');
    });
    notFound(() => making(404));
    onError(() => making(500));
    const response = app.request(path, { headers });
    await expect.poll(() => log).toEqual(['turn of 192.0.2.1']);
    await grant();
    expect(log.slice(1)).toEqual(['read', 'turn of 192.0.2.1']);
    await grant();
    expect(log.slice(3)).toEqual(['made']);
    expect(await (await response).text()).toBe('body');
  });

  test('a handler that returns a Response does not compile', () => {
    const { get, app } = createRoutes(noTurns);
    // @ts-expect-error A Response would be made without a turn.
    get('/', () => new Response());
    // @ts-expect-error The application has no methods for further routes.
    app.get?.('/', () => new Response());
  });
});

test('each piece of a stream takes a turn, once the client has taken the pieces before', async () => {
  const { log, grant, app, get } = waitingRoutes();
  let made = 0;
  const piece: Piece = () => {
    made += 1;
    return `${made} `;
  };
  const pieces = createPieceQueue();
  for (let i = 0; i < 2; i += 1) pieces.push(piece);
  pieces.end();
  get('/', () => ({ headers: {}, body: pieces }));
  const response = app.request('/');
  await grant();
  await grant();
  const reader = ((await response).body as ReadableStream<Uint8Array>).getReader();
  expect([log.length, made]).toEqual([2, 0]);
  const first = reader.read();
  await grant();
  expect(`${new TextDecoder().decode((await first).value)}`).toBe('1 ');
  expect([log.length, made]).toEqual([3, 1]);
  const rest = reader.read();
  await grant();
  expect([new TextDecoder().decode((await rest).value), (await reader.read()).done]).toEqual(['2 ', true]);
});

test.each(['HEAD', 'GET'])('a stream that nobody reads is cancelled: %s', async (method) => {
  let cancelled = 0;
  const { get, ...routes } = createRoutes(noTurns);
  get('/', () => {
    const body: Pieces = {
      next: async () => ({ done: false, value: () => 'x'.repeat(1_000_000) }),
      async return() {
        cancelled += 1;
        return { done: true, value: undefined };
      },
    };
    return { headers: {}, body };
  });
  const response = await open(await serving(routes), '/', { method });
  response.destroy();
  await expect.poll(() => cancelled).toBe(1);
});

test.each([1, 2, 3])(
  'nothing is done for a client that has disconnected while it waited for turn %i',
  async (left) => {
    const { log, grant, app, post, onError } = waitingRoutes();
    const done: string[] = [];
    post('/', async (c) => {
      done.push('read');
      await takeTurn(c);
      done.push('worked');
      return { ...served, body: () => `${done.push('made')}` };
    });
    onError(() => ({ headers: {}, status: 500, body: null }));
    const outgoing = { destroyed: false };
    const response = app.request('/', { method: 'POST' }, { outgoing });
    for (let turn = 1; turn <= left; turn += 1) {
      await expect.poll(() => log.length).toBe(turn);
      outgoing.destroyed = turn === left;
      await grant();
    }
    if (left === 2) await grant();
    await response;
    expect(done).toEqual(['read', 'worked', 'made'].slice(0, left - 1));
  },
);

test.each([
  ['/a%20b', '/a b'],
  ['/%61/%2561', '/a/%2561'],
  ['/%ff%61%', '/%ff%61%'],
])('the path %s is %s', async (path, decoded) => {
  const { get, ...routes } = createRoutes(noTurns);
  get('*', (c) => ({ ...served, body: () => c.req.path }));
  expect((await send(await serving(routes), path)).body).toBe(decoded);
});

test('a query is read once', async () => {
  const { app, get } = createRoutes(noTurns);
  get('/', (c) => {
    const query = queryOf(c);
    return { ...served, body: () => `${query === queryOf(c)} ${query.get('a')}` };
  });
  expect(await (await app.request('/?a=1')).text()).toBe('true 1');
});
