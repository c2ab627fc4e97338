import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { storeId, submit, testApp, testKey, useApp, type Visitor, visit } from '../../testing/app.ts';
import { TaskError } from '../task/errors.ts';
import { auth, pageAfterLogin } from './auth.ts';
import { cookies } from './cookies.ts';
import { csrf } from './csrf.ts';

const password = 'öffne dich, bitte ';
const tokens = [
  { name: 'backup', token: 'b4ck-up.token=' },
  { name: 'phone', token: 'ph0ne' },
];
const kept = useApp((now) => auth(password, testKey, tokens, now));

const authOf = (key: typeof testKey, own = password) => {
  const now = () => kept.now;
  return { now, auth: auth(own, key, tokens, now) };
};

/** Creates a second instance of the application. */
const guarded = (own = password, key = testKey) => testApp(kept.store, authOf(key, own));

const page = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const https = { 'X-Forwarded-Proto': 'https' };

/** Logs in like a browser. Resolves with the response and all cookies. */
async function logIn(given = password, headers: Record<string, string> = {}, next = '/') {
  const visitor: Visitor = await visit(kept.app, { ...page, ...headers }, '/login');
  const response = await submit(kept.app, '/login', { password: given, next }, visitor, headers);
  const cookie = `${visitor.cookie}; ${response.headers.get('set-cookie')?.split(';')[0] ?? ''}`;
  return { response, cookie, visitor };
}

const status = async (path: string, headers: Record<string, string>) =>
  (await kept.app.request(path, { headers: { Accept: 'application/json', ...headers } })).status;

describe('Without a session', () => {
  const open = ['/login', '/public/*'];
  const { routes: all } = testApp({ insert() {} } as never, { auth: auth('x', testKey) });
  const routes: [string, string][] = all
    .filter(({ method, path }) => method !== 'ALL' && !open.includes(path))
    .map(({ method, path }) => [method, path.replace(':id', '1')]);

  test.each<[string, string]>([
    ...routes,
    ['GET', '/no-such-page'],
    ['PATCH', '/tasks'],
    ['OPTIONS', '/tasks'],
    ['HEAD', '/'],
    ['GET', '/publicity'],
    ['GET', '/login/'],
    ['GET', '/tasks/1?public/x'],
  ])('%s %s redirects pages to the login, and returns 401 to programs', async (method, path) => {
    const html = await kept.app.request(path, { method, headers: page });
    const read = /^(GET|HEAD)$/.test(method);
    expect(html.status).toBe(read ? 303 : 401);
    if (read) expect(html.headers.get('location')).toMatch(/^\/login(\?next=%2Ftasks[%\w]*)?$/);
    const json = await kept.app.request(path, { method, headers: { Accept: 'application/json' } });
    expect(json.status).toBe(401);
    expect(json.headers.get('content-type')).toBe('application/problem+json');
    for (const { status, headers } of [html, json]) {
      expect(headers.get('cache-control')).toBe('no-store, no-cache');
      if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer realm="tasks"');
    }
    if (!read) expect(await html.text()).toContain('href="/login"');
    if (method !== 'HEAD') expect(await json.json()).toMatchObject({ status: 401, code: 'not_logged_in' });
  });

  test.each([{}, { Accept: '*/*' }, { Accept: 'text/event-stream' }])(
    'the event stream with %j responds with a problem document',
    async (headers) => {
      const response = await kept.app.request('/tasks/events', { headers });
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    },
  );

  test('a field Accept of more than 1,000 characters is ignored', async () => {
    const typeFor = async (spaces: number) => {
      const Accept = `application/json${' '.repeat(spaces)},text/plain`;
      return (await kept.app.request('/tasks', { headers: { Accept } })).headers.get('content-type');
    };
    expect(await typeFor(900)).toBe('application/problem+json');
    expect(await typeFor(1_000)).not.toBe('application/problem+json');
  });

  test('requests return 401 before the body, type, length, token, origin and If-Match are checked', async () => {
    const send = (headers: Record<string, string>, body = 'x') =>
      kept.app.request('/tasks', { method: 'POST', headers, body });
    for (const response of [
      await send({ 'Content-Type': 'application/json' }, '{'),
      await send({ 'Content-Type': 'application/json' }, 'x'.repeat(70_000)),
      await send({ 'Content-Type': 'image/png' }),
      await send({ 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/json' }, '{}'),
      await send({ 'Content-Length': '99999999999' }),
      await kept.app.request('/tasks/1', { method: 'PUT', body: '{}' }),
      await kept.app.request('/?filter=none', { headers: { Accept: 'application/json' } }),
    ])
      expect(response.status).toBe(401);
  });
});

describe('The login', () => {
  test('redirects to the requested page, and sets a session cookie that scripts cannot read', async () => {
    const asked = await kept.app.request('/tasks?filter=open', { headers: page });
    const form = await kept.app.request(asked.headers.get('location') ?? '', { headers: page });
    expect(await form.text()).toContain('name="next" value="/tasks?filter=open"');
    const { response, cookie } = await logIn(password, {}, '/tasks?filter=open');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/tasks?filter=open');
    expect(response.headers.get('set-cookie')).toMatch(
      /^login-963eb692=\d{10}\.[\w-]+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const list = await kept.app.request('/', { headers: { Cookie: cookie } });
    expect(list.status).toBe(200);
    expect(list.headers.get('cache-control')).toBe('no-store, no-cache');
    expect(await status('/login', { Cookie: cookie })).toBe(303);
  });

  test('sets a __Host- cookie over TLS', async () => {
    const { response, cookie } = await logIn(password, https);
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-login-963eb692=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await status('/', { Cookie: cookie, ...https })).toBe(200);
    expect(await status('/', { Cookie: cookie.replaceAll('__Host-', ''), ...https })).toBe(401);
  });

  test.each(['', 'wrong', password.trim(), `${password}\n`, password.toUpperCase()])(
    'rejects the password %j and shows the form with the reason',
    async (given) => {
      const { response, cookie } = await logIn(given, {}, '/tasks/1');
      expect(response.status).toBe(403);
      expect(response.headers.get('set-cookie')).toBeNull();
      const html = await response.text();
      expect(html).toContain('<p id="problem" class="problem" role="alert">Wrong password.</p>');
      expect(html).toContain('name="next" value="/tasks/1"');
      if (given) expect(html).not.toContain(`"${given}"`);
      expect(await status('/', { Cookie: cookie })).toBe(401);
    },
  );

  test('fails from another site or without the token', async () => {
    const { visitor } = await logIn('wrong');
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await submit(kept.app, '/login', { password, next: '/' }, visitor, foreign)).status).toBe(403);
    const stale = await submit(kept.app, '/login', { password, next: '/' }, { ...visitor, token: 'stale' });
    expect(stale.status).toBe(403);
    expect(stale.headers.get('set-cookie')).toBeNull();
    expect(await stale.text()).toMatch(/type="password"[\s\S]*expired/);
  });

  const shared = "/tasks/new?text=it's+https://example.org/";
  test.each(['/', '/?filter=open', '/tasks/1/edit', '/?q=milk+bread', shared])(
    'redirects to next=%j',
    (next) => expect(pageAfterLogin(next)).toBe(next),
  );

  const elsewhere = ['//evil.example', '/\\evil.example', '/\t/evil.example', '/.//evil.example'];
  const linksThatChange = ['/task/1/finish', '/%74ask/1/finish', '/tasks/../task/1/finish'];
  const other = ['https://evil.example/', 'javascript:alert(1)', '/tasks\r\nX: y', '', undefined];
  test.each([...elsewhere, ...linksThatChange, ...other])('redirects to / instead of next=%j', (next) => {
    expect(pageAfterLogin(next)).toBe('/');
  });
});

describe('A session', () => {
  test('ends after 90 days', async () => {
    const { cookie } = await logIn();
    const end = kept.now.getTime() + 90 * 24 * 60 * 60 * 1_000;
    kept.now = new Date(end - 1_000);
    expect(await status('/', { Cookie: cookie })).toBe(200);
    kept.now = new Date(end + 1);
    expect(await status('/', { Cookie: cookie })).toBe(401);
  });

  test('cannot be forged or prolonged', async () => {
    const { cookie } = await logIn();
    for (const forged of [
      cookie.replace(/(login-\w+=)\d/, '$19'),
      cookie.replace(/\.[\w-]{4}/, '.AAAA'),
      ...['9999999999', '9999999999.', '', '%00'].map((value) => `login-${storeId}=${value}`),
    ])
      expect(await status('/', { Cookie: forged })).toBe(401);
  });

  test('is valid only in processes with the same password and key', async () => {
    const { cookie } = await logIn();
    kept.app = guarded();
    expect(await status('/', { Cookie: cookie })).toBe(200);
    kept.app = guarded('another password');
    expect(await status('/', { Cookie: cookie })).toBe(401);
    // A new store has a different key.
    let key = await testKey();
    kept.app = guarded(password, async () => key);
    expect(await status('/', { Cookie: cookie })).toBe(200);
    key = Buffer.alloc(32, 8);
    expect(await status('/', { Cookie: cookie })).toBe(401);
  });

  test('of another list on the same host stays, because browsers send cookies to all ports', async () => {
    const own = await logIn();
    const otherKey = async () => Buffer.alloc(32, 9);
    const list = kept.app;
    kept.app = testApp(kept.store, { ...authOf(otherKey), csrf: csrf(otherKey), cookies: cookies(otherKey) });
    const other = await logIn();
    const jar = { Cookie: `${own.cookie}; ${other.cookie}` };
    expect(await status('/', jar)).toBe(200);
    kept.app = list;
    expect(await status('/', jar)).toBe(200);
    const names = jar.Cookie.split('; ').map((cookie) => cookie.split('=')[0]);
    expect(new Set(names).size).toBe(4);
  });

  test('ends when the user presses Log out', async () => {
    const { cookie } = await logIn();
    const visitor = await visit(kept.app, { Cookie: cookie });
    const response = await submit(kept.app, '/logout', {}, { ...visitor, cookie });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/login']);
    expect(response.headers.get('set-cookie')).toBe(
      'login-963eb692=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    );
    expect((await submit(kept.app, '/logout', {}, { cookie, token: 'stale' })).status).toBe(403);
  });
});

describe('A form token', () => {
  /** Opens the login page with the given session cookie. Returns the new cookie and the unmasked HMAC of the form token. */
  const tokenFor = async (session: string) => {
    const Cookie = `session-${storeId}=${encodeURIComponent(session)}`;
    const { token, cookie } = await visit(kept.app, { ...page, Cookie }, '/login');
    const bytes = Buffer.from(token, 'base64url');
    return { hmac: bytes.subarray(0, 32).map((mask, i) => mask ^ (bytes[32 + i] as number)), cookie };
  };

  test('cannot be used to verify a guessed password', async () => {
    const { hmac, cookie } = await tokenFor(`sessions of the password ${password}`);
    const end = '9999999999';
    const signature = createHmac('sha256', hmac).update(end).digest('base64url');
    expect(await status('/', { Cookie: `login-${storeId}=${end}.${signature}` })).toBe(401);
    expect(cookie).toMatch(/^session-963eb692=[\w-]{22}$/);
  });

  test('is not derived directly from the key in the store', async () => {
    const session = 'A'.repeat(22);
    const withKey = createHmac('sha256', await testKey()).update(session);
    expect((await tokenFor(session)).hmac).not.toEqual(withKey.digest());
  });
});

describe('A token', () => {
  const right = ['Bearer ph0ne', 'bearer ph0ne', `Bearer ${tokens[0]?.token}`];
  const wrong = ['', ' ph0n', ' ph0nee', ' PH0NE', ' backup'].map((token) => `Bearer${token}`);
  test.each([...right, ...wrong, 'Basic ph0ne'])('must be complete and exact: %j', async (Authorization) => {
    const expected = right.includes(Authorization) ? 200 : 401;
    expect(await status('/tasks', { Authorization })).toBe(expected);
    const headers = { Authorization, 'Content-Type': 'application/json' };
    const added = await kept.app.request('/tasks', { method: 'POST', headers, body: '{"title":"milk"}' });
    expect(added.status).toBe(expected === 200 ? 201 : 401);
  });

  test('works while the store is down', async () => {
    const away = new TaskError('store_unavailable', 'The tasks cannot be reached.');
    kept.app = guarded(password, () => Promise.reject(away));
    expect(await status('/tasks', {})).toBe(401);
    expect(await status('/tasks', { Cookie: `login-${storeId}=1.x` })).toBe(503);
    expect(await status('/tasks', { Authorization: 'Bearer ph0ne' })).toBe(200);
  });

  test('an Authorization header for an outer proxy does not affect the session', async () => {
    const { cookie } = await logIn();
    expect(await status('/', { Cookie: cookie, Authorization: 'Bearer of-the-front' })).toBe(200);
  });
});

test('Without a password there is no login', async () => {
  kept.app = testApp(kept.store);
  const list = await kept.app.request('/', { headers: page });
  expect(list.status).toBe(200);
  expect(await list.text()).not.toMatch(/log ?(in|out)/i);
  expect(await status('/login', {})).toBe(404);
  expect((await kept.app.request('/logout', { method: 'POST' })).status).toBe(404);
});
