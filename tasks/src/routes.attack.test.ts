import { randomUUID } from 'node:crypto';
import { patience } from '@longhand/shared/testing/attack.ts';
import { type Dear, formAndJson, routeTargets, testAttacks } from '@longhand/shared/testing/route-attack.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { afterAll, describe } from 'vitest';
import { formFields, testApp, testKey } from '../testing/app.ts';
import { startService } from '../testing/service.ts';
import { startStore } from '../testing/store.ts';
import type { TaskStore } from './task/task.ts';
import { auth } from './web/auth.ts';

const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const headers: Record<string, string> = { 'X-Forwarded-For': '192.0.2.1', 'Sec-Fetch-Site': 'same-origin' };
let token = '';

/** Tasks whose rows are slow to render. */
const title = Array.from({ length: 24 }, (_, i) => `https://bit.ly/${i}x`).join(' ');
const tasks = Array.from({ length: 1_200 }, (_, i) => ({
  title: `${i} ${title}`,
  finished: (i % 2) as 0 | 1,
  created_at: new Date(0).toISOString(),
}));

/** Starts a service with a list of 12,000 tasks. */
async function start(env: Record<string, string> = {}) {
  const { url, store, stop } = await startStore();
  stops.push(stop);
  for (let i = 0; i < 10; i += 1) await store.insert(tasks);
  const service = await startService({ REDIS_URL: url, ...env });
  stops.push(() => service.end('SIGKILL'));
  return service;
}

async function startBoth(env?: Record<string, string>) {
  const [attacked, quiet] = [await start(env), await start(env)];
  const response = await fetch(attacked.url);
  headers.Cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
  token = formFields(await response.text()).token;
  return { attacked, quiet };
}

const neighbour = (path: string) => async (url: string) => {
  const client = { 'X-Forwarded-For': '192.0.2.2' };
  try {
    const response = await fetch(`${url}${path}`, { headers: client, signal: AbortSignal.timeout(patience) });
    await response.bytes();
    return response.status;
  } catch {
    return 0;
  }
};

const form = { type: 'application/x-www-form-urlencoded', size: 64 * 1024 - 200 };
const fields = ['a&', '%&', '%', 'a=', '%cc%81', '%cc%a3%cc%81', '+', '%0a', 'a%0a', 'https://t.co/a+'];
const file = 1024 ** 2 - 200;
const lines = [
  'a\n',
  '\n',
  '- [ ] a\n',
  '\u0301\u0323',
  '[',
  'https://t.co/a ',
  `${'\u0301\u0323'.repeat(1_000)}\n`,
];
const objects = ['[', '{"title":"a"}\n', '{"title":"a"},', '{"a":', '"', '\\', '{"title":"', '\u0301\u0323'];

const partStart = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
const longForm = {
  type: 'multipart/form-data; boundary=b',
  size: file,
  pieces: lines,
  text: (text: string) =>
    [
      `${partStart('_csrf')}${token}`,
      `${partStart('nonce')}${randomUUID()}`,
      `${partStart('text')}${Buffer.from(text).subarray(0, file)}`,
      '--b--\r\n',
    ].join('\r\n'),
};

const settings = {
  maxPath: 8 * 1024 - ' HTTP/1.1'.length,
  parameters: ['filter', 'after', 'q', 'removal', 'title', 'text', 'url', 'from', 'next', 'added'],
  headers: () => headers,
  bodies: {
    '/task': { ...formAndJson, 'pasted list': longForm },
    '/tasks': { ...formAndJson, 'pasted list': longForm },
    '/tasks/import': {
      'long text': longForm,
      text: {
        ...form,
        pieces: fields,
        text: (text: string) => `_csrf=${token}&nonce=${randomUUID()}&text=${text}`,
      },
      'file of lines': { type: 'text/plain', size: file, pieces: lines },
      'file of NDJSON': { type: 'application/x-ndjson', size: file, pieces: objects },
      'file of JSON': { type: 'application/json', size: file, pieces: objects },
      'form with a file': {
        type: 'multipart/form-data; boundary=b',
        size: file,
        pieces: ['\r\n--b', '\r\n--b\r\n', '\r\n\r\n', 'name="', 'filename="', '-', '\r\n'],
      },
    },
  },
};

const store = {} as TaskStore;
const { routes } = testApp(store);
const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
const withLogin = testApp(store, { auth: auth('password', testKey) }).routes;

/** The dearest inputs of the last run of `make test-long`, from out/attack-tasks.md. */
const dearest: readonly Dear[] = [
  { target: 'GET /', place: 'query', units: ['a&'] },
  { target: 'GET /', place: 'parameter q', units: ['%&'] },
  { target: 'GET /tasks/export', place: 'query', units: ['%'] },
  { target: 'POST /tasks/:id', place: 'form', units: ['+'] },
  { target: 'POST /tasks/import', place: 'file of lines', units: ['\n'] },
  { target: 'POST /tasks/import', place: 'long text', units: [`${'\u0301\u0323'.repeat(1_000)}\n`] },
  { target: 'POST /task', place: 'pasted list', units: ['\n'] },
];

testAttacks({
  targets: routeTargets({ ...settings, routes }),
  dearest,
  report: 'attack-tasks.md',
  start: startBoth,
  neighbour: neighbour(''),
});

describe('with a password', () => {
  testAttacks({
    targets: routeTargets({
      ...settings,
      routes: withLogin.filter(({ method, path }) => !known.has(`${method} ${path}`)),
    }),
    dearest: [{ target: 'POST /login', place: 'form', units: ['%&'] }],
    report: 'attack-login.md',
    start: () => startBoth({ TASKS_PASSWORD_FILE: textFile('a password of a test') }),
    neighbour: neighbour('login'),
  });
});
