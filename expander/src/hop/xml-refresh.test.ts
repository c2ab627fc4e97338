import { expect, test } from 'vitest';
import { readXml } from './xml-refresh.ts';

test('the title is the first one of XHTML', () => {
  const page = (body: string) =>
    `<html xmlns="http://www.w3.org/1999/xhtml"><svg:title>no</svg:title>${body}</html>`;
  expect(readXml(page('<title>a &amp; b</title><title>c</title>')).title).toBe('a & b');
  expect(readXml(page('<p>x</p>')).title).toBeNull();
});

test('64 KiB of XML cost no more than their length', () => {
  const namespaces = Array.from({ length: 2_000 }, (_, i) => ` xmlns:x${i}="y"`).join('');
  const started = performance.now();
  for (const filler of [
    '&',
    '&#1;',
    '<a>',
    '<a/>',
    '<a ',
    ' ',
    '"',
    '<!--',
    '<!DOCTYPE a[',
    '<?x ',
    'a="b" ',
  ]) {
    for (const before of ['', '<r>', '<r a', '<!DOCTYPE a ['])
      readXml(before + filler.repeat(64_000 / filler.length));
  }
  readXml(`<!DOCTYPE a[<?a?>${'?>m'.repeat(21_000)}`);
  readXml(`${'<a>'.repeat(511)}${'<a/>'.repeat(15_000)}`);
  readXml(`<r${namespaces}>${'<a xmlns:b="c">'.repeat(2_000)}`);
  expect(performance.now() - started).toBeLessThan(2_000);
});
