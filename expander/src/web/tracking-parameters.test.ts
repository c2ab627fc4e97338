import { describe, expect, test } from 'vitest';
import { withoutTracking } from './tracking-parameters.ts';

describe('finds and removes tracking parameters', () => {
  test.each([
    ['http://a.example/?utm_source=x', 'http://a.example/', ['utm_source']],
    ['http://a.example/?id=1&utm_campaign=x&q=2', 'http://a.example/?id=1&q=2', ['utm_campaign']],
    ['http://a.example/?fbclid=x&gclid=y&id=1#top', 'http://a.example/?id=1#top', ['fbclid', 'gclid']],
    ['http://a.example/p?msclkid=1&mc_eid=2&igshid=3', 'http://a.example/p', ['msclkid', 'mc_eid', 'igshid']],
    ['http://a.example/?UTM_Source=x&_hsenc', 'http://a.example/', ['UTM_Source', '_hsenc']],
    ['http://a.example/?%75tm%5Fsource=x&id=1', 'http://a.example/?id=1', ['%75tm%5Fsource']],
    ['http://a.example/#utm_source=x', 'http://a.example/', ['utm_source']],
    ['http://a.example/?id=1#top&utm_source=x', 'http://a.example/?id=1#top', ['utm_source']],
    ['http://a.example/#/page?utm_source=x&id=1', 'http://a.example/#/page?id=1', ['utm_source']],
    ['http://a.example/#/page?utm_source=x', 'http://a.example/#/page', ['utm_source']],
    ['http://a.example/#?utm_source=x', 'http://a.example/', ['utm_source']],
    ['http://a.example/?gclid=1#fbclid=2', 'http://a.example/', ['gclid', 'fbclid']],
    ['http://a.example/?a=%2f+%20&utm_x=1&&b=;#?x', 'http://a.example/?a=%2f+%20&&b=;#?x', ['utm_x']],
  ])('%s', (url, cleaned, names) => {
    const found = withoutTracking(url);
    expect(found.cleaned).toBe(cleaned);
    expect(found.parameters.map(({ name }) => name)).toEqual(names);
  });

  test('returns the exact value and the owner of each parameter', () => {
    expect(withoutTracking('http://a.example/?fbclid=a=%20b').parameters).toEqual([
      { name: 'fbclid', value: 'a=%20b', owner: 'Facebook' },
    ]);
  });

  test.each([
    ...['http://a.example', 'http://a.example/?', 'http://a.example/?&&a=%2F+b&&'],
    ...['http://a.example/?%zz=1;b', 'http://a.example/utm_source=x', 'http://a.example/#utm_source'],
    ...['http://a.example/#?', 'http://a.example/#:~:text=a&b', 'http://a.example/#!?&'],
    'http://a.example/?q=utm_source&xutm_source=1&gclids=2',
  ])('leaves other URLs unchanged: %s', (url) => {
    expect(withoutTracking(url)).toEqual({ cleaned: url, parameters: [] });
  });

  test('examines only the first 1,000 parameters', () => {
    const rest = '&a&&fbclid=1'.repeat(5_000);
    const { cleaned, parameters } = withoutTracking(`http://a.example/?${'utm_x=1&'.repeat(999)}b${rest}#c`);
    expect(parameters).toHaveLength(999);
    expect(cleaned).toBe(`http://a.example/?b${rest}#c`);
  });
});
