import { expect, test } from 'vitest';
import { fileOf } from './file.ts';

const pdf = { 'content-type': 'application/pdf' };
const named = (disposition: string) => ({ 'content-type': 'text/html', 'content-disposition': disposition });

test.each([
  ['/a/b%20c.pdf?d', { ...pdf, 'content-length': '48000000' }, { name: 'b c.pdf', size: 48_000_000 }],
  ['/', { ...pdf, 'content-length': '9', 'content-encoding': 'gzip' }, { name: 'a.example', size: null }],
  ['/x', named('attachment; filename="setup \xe2\x82\xac.exe"'), { name: 'setup €.exe', size: null }],
  ['/x', named("attachment; filename=a.exe; filename*=UTF-8''%e2%82%ac.exe"), { name: '€.exe', size: null }],
  ['/x', named("attachment; filename*=UTF-8''..%2F%E2%80%AEb.exe"), { name: 'b.exe', size: null }],
  ['/%ff', pdf, { name: '%ff', size: null }],
])('a file has a name, without folders and controls, and a size: %s %o', (path, headers, file) => {
  expect(fileOf(new URL(path, 'http://a.example'), { status: 200, headers })).toEqual(file);
});

test.each([
  [200, { 'content-type': 'text/html' }],
  [200, {}],
  [204, pdf],
  [404, pdf],
])('a page, nothing and a failure are not a file: %i %o', (status, headers) => {
  expect(fileOf(new URL('http://a.example/x'), { status, headers })).toBeNull();
});
