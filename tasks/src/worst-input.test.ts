import { formatLogLine } from '@longhand/shared/log-line.ts';
import {
  type Parser,
  testLinearTime,
  testWorstInputs,
  type UntrustedInput,
} from '@longhand/shared/testing/worst-input.ts';
import { afterAll, afterEach } from 'vitest';
import { submit, testApp, visit } from '../testing/app.ts';
import { startStore } from '../testing/store.ts';
import { formats } from './task/formats.ts';
import { readTasks } from './task/import.ts';
import { readTitle } from './task/task.ts';
import { pageAfterLogin } from './web/auth.ts';
import { linked } from './web/links.ts';
import { readMultipart } from './web/multipart.ts';

const { store, empty, stop } = await startStore();
const app = testApp(store);
const visitor = await visit(app);
afterEach(() => empty());
afterAll(stop);

/** Combining marks of two classes, which normalization must sort. */
const marks = ['\u0301', '\u0301\u0323'];
const tokens = [...'",;=*/a \t0.%\\', '\\"', 'q=', '*/*', 'W/"', 'session-963eb692='];
const titles = [...marks, ...'aß \u00a0\u200d\u0000&=%+', '\ud83d\ude00', '\ud800'];
const lines = [...marks, ...'\n\r[]a\u2028 ', '\r\n'];
/** The longest title that is normalized. */
const long = '\u0301\u0323'.repeat(1_000);
const text = [...lines, ...'1.*', '- [x] ', `- [ ] ${long}\n`];
const objects = [...lines, ...'{}"\\,:', '{"title":"', `{"title":"${long}"},`];
/** Host name parts that are slow to parse. */
const hosts = ['%cc%81', '%cc%81%cc%a3', 'a', '.', 'xn--', '%e2%80%8d', ':', '@', '/', '['];
const form = 64 * 1024;
const file = 1024 ** 2;

const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
const read = async (response: Response | Promise<Response>) => (await response).text();
const get = (path: string, headers = {}) => read(app.request(path, { headers }));
const send = (method: string, path: string, body: string, headers: Record<string, string> = json) =>
  read(app.request(path, { method, body, headers }));

/** Imports a file. Disconnects after 100 ms of CPU time, because the input is repetitive. */
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

/** Renders 600 titles, six times as many as a page has. */
const linkMany = (start: string) => (rest: string) => {
  for (let i = 0; i < 600; i += 1) linked(start + rest);
};

const input = (size: number, pieces: string[], send: UntrustedInput['send']): UntrustedInput => ({
  size,
  pieces,
  send,
});

const multipart = ['\r\n--b', '--b\r\n', '\r\n\r\n', '\r\n', ...'-a"', 'name="a"', 'name="', 'filename="'];
const urls = ['http://', 'http://a/ ', 'http://t.co/a ', ...'([)]}._@:/?#%"a漢ﷺ', ...marks];
const queries = [...'&=%+a0', 'after=', 'filter=', 'removal=', 'q=', '%cc%81', '%cc%a3'];

/** The headers that each request reads. */
const headers: Record<string, string[]> = {
  'GET /tasks': ['Accept', 'If-None-Match', 'Cookie'],
  'GET /task/1/finish': ['Origin', 'Referer', 'Sec-Purpose'],
  'PUT /tasks/1': ['If-Match', 'Content-Type', 'Idempotency-Key'],
};

/** All untrusted inputs, with their maximum sizes. */
const inputs: Record<string, UntrustedInput> = {
  'title in a form': input(form / 6, titles, field('title')),
  'title in JSON': input(32_000, titles, (title) => send('POST', '/tasks', JSON.stringify({ title }))),
  form: input(form, [...'&=%+a;', '%61', 'title'], (body) =>
    send('POST', '/task', body, { 'Content-Type': 'application/x-www-form-urlencoded' }),
  ),
  JSON: input(form, objects, (body) => send('POST', '/tasks', body)),
  token: input(form / 2, tokens, field('_csrf')),
  nonce: input(form / 2, tokens, field('nonce')),
  'form with a file': input(file, multipart, importAs('multipart/form-data; boundary=b')),
  'text to import': input(form / 6, text, field('text', '/tasks/import')),
  'import of NDJSON': input(file, objects, importAs('application/x-ndjson')),
  'import of JSON': input(file, objects, importAs('application/json')),
  'import of text': input(file, text, importAs('text/plain')),
  'an array on one line': input(form, objects, (text) =>
    importAs('application/x-ndjson')(`[${text.replaceAll('\n', ' ')}{"title":"a"}]`),
  ),
  'host of Origin': input(32_000, hosts, (host) =>
    get('/task/1/finish', { Origin: `http://a${host}`, Referer: `http://a${host}` }),
  ),
  path: input(32_000, [...'/.%a0;', '..', '%2e'], (rest) => get(`/task/${rest}`)),
  query: input(32_000, queries, (query) => get(`/?${query}`)),
  '600 titles': input(490, urls, linkMany('http://a/')),
  '600 titles with a long host': input(490, ['ﷺ', ...marks], linkMany('http://')),
  'log line': input(32_000, [...'{"\\\u001b: 01a/[]#', '1:M '], formatLogLine),
};
for (const [request, names] of Object.entries(headers))
  for (const name of names) inputs[name] = input(32_000, tokens, inHeader(name, request));

testWorstInputs(inputs);

const parser = (pieces: readonly string[], read: Parser['read']): Parser => ({ pieces, read });
const readFile = (format: keyof typeof formats) => (text: string) =>
  readTasks(Buffer.from(text), formats[format], new Date(), async () => {});

/** All parsers of untrusted text. Most of their texts are longer than any that they receive. */
const parsers: Record<string, Parser> = {
  title: parser(titles, readTitle),
  'import line': parser([...lines, ...'1.*', '- [x] ', '- [ ] a\n', '[', ' '], readFile('text')),
  'import of NDJSON': parser([...lines, ...'{}"\\,:', '{"title":"', '{"title":"a"},'], readFile('ndjson')),
  'import of JSON': parser([...lines, ...'{}"\\,:', '[', '{"title":"a"},'], (text) =>
    readFile('json')(`[${text}`),
  ),
  'form with a file': parser(multipart, (text) =>
    readMultipart('multipart/form-data; boundary=b', Buffer.from(text)),
  ),
  'Content-Type of a form': parser(tokens, (text) => readMultipart(`boundary=${text}`, Buffer.from('--b'))),
  'links in a title': parser(urls, linked),
  'page after a login': parser([...queries, '/', '?', 'tasks/'], (text) => pageAfterLogin(`/tasks/${text}`)),
  'log line': parser([...'{"\\\u001b: 01a/[]#', '1:M '], formatLogLine),
};
for (const [request, names] of Object.entries(headers))
  for (const name of names) parsers[name] = parser(tokens, inHeader(name, request));

testLinearTime(parsers);
