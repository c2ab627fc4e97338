import { describe, expect, test } from 'vitest';
import { readHtml } from './meta-refresh.ts';

const meta = '<meta http-equiv=refresh content="0;url=/m">';
const contents = (markup: string) => readHtml(markup).refreshes.map(({ content }) => content);

test.each([
  ['the first', '<title>One</title><title>Two</title>', 'One'],
  [
    'the first that is not in SVG',
    '<svg><title>Of a picture</title></svg><title>Of the page</title>',
    'Of the page',
  ],
  ['the first that is not in a template', '<template><title>a</title></template><title>b</title>', 'b'],
  ['with characters that are escaped', '<title>a &lt;b> &amp; c</title>', 'a <b> & c'],
  ['as text, whatever it contains', '<title><script>x</script></title>', '<script>x</script>'],
  ['in the body', '<body><p>Text<title>Late</title>', 'Late'],
  ['none where the first is empty', '<title></title><title>Two</title>', null],
  ['none in a comment', '<!-- <title>x</title> -->', null],
])('the title of a page: %s', (_, markup, title) => expect(readHtml(markup).title).toBe(title));

describe('markup that would become a tree of gigabytes', () => {
  const size = 64 * 1024;
  const distinct = Array.from({ length: 4_000 }, (_, i) => `<b ${i}>`).join('');
  const shallow = Array.from({ length: 100 }, (_, i) => `<b ${i}>`).join('');

  test.each([
    ['elements in elements', '<div>'.repeat(size / 5)],
    // Every paragraph repeats all open ones.
    ['formatting elements', `${shallow}${'<p>x'.repeat(size / 4)}`],
    ['more formatting elements', `${distinct}${'<p>x'.repeat(8_000)}`],
    ['formatting elements in tables', '<table><b>'.repeat(size / 10)],
    ['templates', '<template>'.repeat(size / 10)],
  ])('is read up to a limit: %s', (_, markup) => {
    expect(contents(meta + markup + meta)).toEqual(['0;url=/m']);
  });
});
