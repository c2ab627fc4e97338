import { hasTextBrowser, readInTextBrowser } from '@longhand/shared/testing/text-browser.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { serving } from '../../testing/serving.ts';

const app = scriptedApp({
  'http://sho.rt/x': to('http://links.example/y'),
  'http://links.example/y': to('https://end.example/?id=1&utm_source=mail'),
  'https://end.example/?id=1&utm_source=mail': { title: 'A page' },
});

describe.each(['w3m', 'lynx'] as const)('in %s', (browser) => {
  beforeEach(async (context) => {
    context.skip(!(await hasTextBrowser(browser)), `needs ${browser}`);
  });
  const read = async (path: string) => {
    const { url } = await serving(app);
    return readInTextBrowser(browser, new URL(path, url).href);
  };

  test('the page omits features that need a script', async () => {
    const text = await read('/');
    expect(text).toMatch(/^Where does it lead\? Link, or the whole message .*Expand.* Example: iana\.org/);
    expect(text).not.toMatch(/Following|Copy|bookmark/);
  });

  test('the result appears below the chain', async () => {
    const text = await read('/?u=sho.rt/x');
    const order = [
      ...['http://sho.rt/x', '301, moved permanently', 'http://links.example/y', '200, OK'],
      ...[
        'Page found',
        'A page',
        'Open it',
        'Opens without a part that only helps to track you',
        'How we got there',
      ],
    ];
    const places = order.map((words) => text.indexOf(words));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(text).not.toMatch(/Following|Copy|bookmark/);
  });

  test('the page shows an error', async () => {
    expect(await read('/?u=http://')).toContain('This is not a URL');
    expect(await read('/?u=nobody.example')).toMatch(/Not working right now .* Try again Try it anyway/);
  });
});
