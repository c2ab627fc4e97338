import { describe, expect, test } from 'vitest';
import { findMetaRefreshes } from './meta-refresh.ts';

const meta = '<meta http-equiv=refresh content="0;url=/m">';
const contents = (markup: string) => findMetaRefreshes(markup).map(({ content }) => content);

// Where Chromium goes from each of these is in browsers.test.ts.
describe('a meta element that refreshes is found', () => {
  test.each([
    ['in the head', `<!doctype html><html><head>${meta}</head></html>`],
    ['in the body', `<body><p>Hello</p>${meta}`],
    ['without anything around it', meta],
    ['in any case', '<META HTTP-EQUIV=REFRESH CONTENT="0;url=/m">'],
    ['with character references', '<meta http-equiv="ref&#114;esh" content="0&#59;url=/m">'],
    ['in a table, before which browsers move it', `<table>${meta}</table>`],
    ['in a list to choose from', `<select><option>${meta}</select>`],
    ['in SVG, which it ends', `<svg><title>${meta}</title></svg>`],
    ['after a template in SVG, which is none', `<svg><template></svg>${meta}`],
    ['after the end', `</body></html>${meta}`],
    ['after a comment that ends at once', `<!-->${meta}-->`],
    ['in an object', `<object>${meta}</object>`],
  ])('%s', (_, markup) => expect(contents(markup)).toEqual(['0;url=/m']));

  test('several in their order, with the base before each', () => {
    const markup = `${meta}<base target=x><base href="/1/"><base href="/2/">${meta.replace('/m', '/n')}`;
    expect(findMetaRefreshes(markup)).toEqual([
      { content: '0;url=/m', base: null },
      { content: '0;url=/n', base: '/1/' },
    ]);
  });
});

describe('one is not', () => {
  test.each([
    ['in a comment', `<!-- ${meta} -->`],
    ['in a script', `<script>document.write('${meta}')</script>`],
    ['after a script that is not closed', `<script><!--<script></script>${meta}`],
    ['in a text area', `<textarea>${meta}</textarea>`],
    ['in a title', `<title>${meta}</title>`],
    ['in a style sheet', `<style>${meta}</style>`],
    ['in a template', `<template>${meta}</template>`],
    ['in a template in a template', `<template><template></template>${meta}</template>`],
    ['in what is for browsers without scripts', `<noscript>${meta}</noscript>`],
    ...['xmp', 'iframe', 'noembed', 'noframes', 'plaintext'].map((tag) => [`in ${tag}`, `<${tag}>${meta}`]),
    ['among frames', `<frameset>${meta}</frameset>`],
    ['in a section of characters', `<svg><![CDATA[${meta}]]></svg>`],
    ['that is cut off', '<meta http-equiv=refresh content="0;url=/m" '],
    ['that does not say refresh', '<meta http-equiv=" refresh" content="0;url=/m">'],
    ['that says it in a second attribute', '<meta http-equiv=x http-equiv=refresh content="0;url=/m">'],
    ['that has a name of it', '<meta name=refresh content="0;url=/m">'],
    ['without content', '<meta http-equiv=refresh content>'],
  ])('%s', (_, markup) => expect(contents(markup as string)).toEqual([]));

  test('nor is the base in a template', () => {
    expect(findMetaRefreshes(`<template><base href=/t/></template>${meta}`)[0]?.base).toBeNull();
  });
});

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
