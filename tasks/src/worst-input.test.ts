import { formatLogLine } from '@longhand/shared/log-line.ts';
import { type Strangers, testWorstInputs } from '@longhand/shared/testing/worst-input.ts';
import { afterAll, afterEach } from 'vitest';
import { submit, testApp, visit } from '../testing/app.ts';
import { startStore } from '../testing/store.ts';
import { linked } from './web/links.ts';

const { store, empty, stop } = await startStore();
const app = testApp(store);
const visitor = await visit(app);
afterEach(() => empty());
afterAll(stop);

/** Combining marks of two classes, which normalization has to sort. */
const marks = ['\u0301', '\u0301\u0323'];
const tokens = [...'",;=*/a \t0.%\\', '\\"', 'q=', '*/*', 'W/"', 'session='];
const titles = [...marks, ...'aß \u00a0\u200d\u0000&=%+', '\ud83d\ude00', '\ud800'];
const lines = [...marks, ...'\n\r[]a\u2028 ', '\r\n'];
/** The longest title that is normalized. */
const long = '\u0301\u0323'.repeat(1_000);
const text = [...lines, ...'1.*', '- [x] ', `- [ ] ${long}\n`];
const objects = [...lines, ...'{}"\\,:', '{"title":"', `{"title":"${long}"},`];
/** Parts of hosts that take long to parse. */
const hosts = ['%cc%81', '%cc%81%cc%a3', 'a', '.', 'xn--', '%e2%80%8d', ':', '@', '/', '['];
const form = 64 * 1024;
const file = 1024 ** 2;

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
const read = async (response: Response | Promise<Response>) => (await response).text();
const send = (method: string, path: string, body: string, headers: Record<string, string> = json) =>
  read(app.request(path, { method, body, headers }));

/** Imports a file, and disconnects after 100 ms of work, because the rest of the file is like its beginning. */
const importAs = (type: string) => (text: string) => {
  const { user: before } = process.threadCpuUsage();
  const outgoing = {
    get destroyed() {
      return process.threadCpuUsage().user - before > 100_000;
    },
  };
  const headers = { ...json, 'Content-Type': type, Origin: 'http://localhost' };
  const request = { method: 'POST', body: Buffer.from(text).subarray(0, file), headers };
  return read(app.request('/tasks/import', request, { outgoing }));
};

const field =
  (name: string, path = '/task') =>
  (value: string) =>
    read(submit(app, path, { [name]: value }, visitor));
const inHeader = (name: string, request: string) => (value: string) => {
  const [method = '', path = ''] = request.split(' ');
  return read(app.request(path, { method, headers: { Accept: 'application/json', [name]: `.${value}.` } }));
};

/** Headers by the request that reads them. */
const headers: Record<string, string[]> = {
  'GET /tasks': ['Accept', 'If-None-Match', 'Cookie'],
  'GET /task/1/finish': ['Origin', 'Referer', 'Sec-Purpose'],
  'PUT /tasks/1': ['If-Match', 'Content-Type', 'Idempotency-Key'],
};

/** A page has 100 titles, so it takes an eighth of this. */
const linkMany = (start: string) => (rest: string) => {
  for (let i = 0; i < 800; i += 1) linked(start + rest);
};

/** The places for strangers' text, with its largest size there. */
const strangers: Record<string, Strangers> = {
  'title of a form': { size: form / 6, pieces: titles, send: field('title') },
  'title in JSON': {
    size: 32_000,
    pieces: titles,
    send: (title) => send('POST', '/tasks', JSON.stringify({ title })),
  },
  form: {
    size: form,
    pieces: ['&', '=', '%', '%61', '+', 'title', 'a', ';'],
    send: (body) => send('POST', '/task', body, { 'Content-Type': 'application/x-www-form-urlencoded' }),
  },
  JSON: { size: form, pieces: objects, send: (body) => send('POST', '/tasks', body) },
  token: { size: form / 2, pieces: tokens, send: field('_csrf') },
  nonce: { size: form / 2, pieces: tokens, send: field('nonce') },
  'form with a file': {
    size: file,
    pieces: ['\r\n--b', '--b\r\n', '\r\n\r\n', '\r\n', '-', 'a', 'name="a"', 'name="', 'filename="', '"'],
    send: importAs('multipart/form-data; boundary=b'),
  },
  'text to import': { size: form / 6, pieces: text, send: field('text', '/tasks/import') },
  ...Object.fromEntries(
    ['application/x-ndjson', 'application/json', 'text/plain'].map((type) => [
      `import of ${type}`,
      { size: file, pieces: type === 'text/plain' ? text : objects, send: importAs(type) },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(headers).flatMap(([request, names]) =>
      names.map((name) => [name, { size: 32_000, pieces: tokens, send: inHeader(name, request) }]),
    ),
  ),
  'an array on one line': {
    size: form,
    pieces: objects,
    send: (text) => importAs('application/x-ndjson')(`[${text.replaceAll('\n', ' ')}{"title":"a"}]`),
  },
  'host of Origin': {
    size: 32_000,
    pieces: hosts,
    send: (host) => {
      const headers = { Origin: `http://a${host}`, Referer: `http://a${host}` };
      return read(app.request('/task/1/finish', { headers }));
    },
  },
  path: {
    size: 32_000,
    pieces: ['/', '.', '..', '%2e', '%', 'a', '0', ';'],
    send: (rest) => read(app.request(`/task/${rest}`)),
  },
  query: {
    size: 32_000,
    pieces: ['&', '=', 'after=', 'filter=', 'removal=', 'q=', '%cc%81', '%cc%a3', '%', '+', 'a', '0'],
    send: (query) => read(app.request(`/?${query}`)),
  },
  '800 titles': {
    size: 490,
    pieces: ['http://', 'http://a/ ', 'http://t.co/a ', ...'([)]}._@:/?#%"a漢ﷺ', ...marks],
    send: linkMany('http://a/'),
  },
  '800 titles with a long host': { size: 490, pieces: ['ﷺ', ...marks], send: linkMany('http://') },
  'log line': {
    size: 32_000,
    pieces: ['{', '"', '\\', '\u001b', ':', ' ', '0', '1:M ', 'a', '/', '[', ']', '#'],
    send: formatLogLine,
  },
};

testWorstInputs(strangers);
