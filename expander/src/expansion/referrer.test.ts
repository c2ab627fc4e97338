import { expect, test } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { followRedirects } from './chain.ts';
import { createExpand } from './expand.ts';
import { navigationReferrer } from './referrer.ts';

// browsers.browser.test.ts compares policies with Chromium.
test('a page whose URL has more than 4,096 characters sends only its origin', () => {
  const lengthFor = (length: number) => {
    const referrer = navigationReferrer();
    referrer.start(new URL('https://a.example/'.padEnd(length, 'a')), 'unsafe-url');
    return referrer.headerFor(new URL('https://b.example/')).length;
  };
  expect(lengthFor(4_096)).toBe(4_096);
  expect(lengthFor(4_097)).toBe('https://a.example/'.length);
});

test('the hops of a chain do not tell the Referrer-Policy, which only the chain needs', async () => {
  const follow = followRedirects(async () => responseWith({ referrerPolicy: 'origin' }));
  const { hops } = await createExpand(follow).chain('https://a.example/', { follow: 'all' });
  expect(hops).toHaveLength(1);
  expect(hops[0]).not.toHaveProperty('referrerPolicy');
});
