import { expect, test } from 'vitest';
import { findXmlRefreshes } from './xml-refresh.ts';

// Where Chromium goes from XML is in testing/browsers/xml.txt.
test('the meta elements of XHTML are found as far as the first error, with the base before each', () => {
  const markup = `<?xml version="1.0"?><rss xmlns:h="http://www.w3.org/1999/xhtml">
    <meta http-equiv="refresh" content="1"/><h:template><h:meta http-equiv="refresh" content="2"/></h:template>
    <h:meta http-equiv="refresh" content="3&amp;"/><h:base href="/b/"/><h:meta http-equiv="refresh" content="4"/>
    &nbsp;<h:meta http-equiv="refresh" content="5"/></rss>`;
  expect(findXmlRefreshes(markup)).toEqual([
    { content: '3&', base: null },
    { content: '4', base: '/b/' },
  ]);
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
      findXmlRefreshes(before + filler.repeat(64_000 / filler.length));
  }
  findXmlRefreshes(`<!DOCTYPE a[<?a?>${'?>m'.repeat(21_000)}`);
  findXmlRefreshes(`${'<a>'.repeat(511)}${'<a/>'.repeat(15_000)}`);
  findXmlRefreshes(`<r${namespaces}>${'<a xmlns:b="c">'.repeat(2_000)}`);
  expect(performance.now() - started).toBeLessThan(2_000);
});
