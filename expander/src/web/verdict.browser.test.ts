import { afterAll, expect, test } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';
import type { HopResponse } from '../expansion/expansion.ts';

const imitation = 'https://dhl.com.paket-zustellung.top/de/verfolgen?id=8837201';
const program = 'https://cdn.discordapp.com/attachments/99/88/Invoice_2026.pdf.exe';
const article = 'https://www.nytimes.com/2026/11/20/climate.html';
const saved = (name: string) => ({ file: { name, size: 9_000, saved: true as const } });
/** Where `look.example/NAME` leads, and what is there. */
const targets: Record<string, [url: string, response?: Partial<HopResponse>]> = {
  page: ['https://news.example/', {}],
  pdf: ['https://files.example/a.pdf', saved('a.pdf')],
  scripted: ['https://moving.example/', { scriptRedirect: true }],
  cut: ['https://cut.example/', { method: 'GET', bytesRead: 9, incomplete: true, interrupted: true }],
  archive: ['https://files.example/a.zip', saved('a.zip')],
  minutes: ['http://files.example/minutes.pdf', saved('minutes.pdf')],
  empty: ['https://empty.example/', { status: 204 }],
  program: ['https://files.example/a.exe', saved('a.exe')],
  javascript: ['javascript:alert(1)'],
  line: ['line://ti/p/@abc'],
  mail: ['mailto:a@example.com'],
  mixed: ['https://xn--pple-43d.example/', {}],
  paypal: ['https://sites.google.com/view/paypal-secure-login', {}],
  loop: ['http://look.example/loop'],
  github: ['https://somebody.github.io/', {}],
  slashes: [`https://www.example.com/view/${'a'.repeat(60)}/${'b'.repeat(60)}/?q=1`, {}],
  parcel: ['https://dhl.com.paket-zustellung.top/de', {}],
  mirror: ['https://www.apk-mirror.example/get', saved('whatsapp.apk')],
  microsoft: ['https://login.microsoftonline.com.account-verification-center.example/a', {}],
  downgrade: ['https://links.parcel-newsletter.example/', to('http://www.parcel-newsletter.example/')],
  404: ['https://gone.example/', { status: 404 }],
  500: ['https://down.example/', { status: 500 }],
};
const lookups = Object.entries(targets).flatMap(([name, [url, response]]) => [
  [`http://look.example/${name}`, to(url)],
  ...(response ? [[url, response]] : []),
]);
const visits = await startVisits(
  scriptedApp({
    ...Object.fromEntries(lookups),
    'http://www.parcel-newsletter.example/': {},
    'http://tinyurl.com/dhl-paket': to(imitation),
    [imitation]: { title: 'DHL Sendungsverfolgung' },
    'http://bit.ly/sites': to('https://sites.google.com/view/chess-club/home'),
    'https://sites.google.com/view/chess-club/home': { title: 'Chess Club' },
    'http://is.gd/setup': to(program),
    [program]: { file: { name: 'Invoice_2026.pdf.exe', size: 4_800_000, saved: true } },
    'http://bit.ly/news': to(`${article}?utm_source=a&fbclid=b`),
    [`${article}?utm_source=a&fbclid=b`]: { title: 'Arctic Sea Ice Reaches a Record Low' },
    'http://xn--mller-kva.de/': to('https://xn--mller-kva.de/'),
    'https://xn--mller-kva.de/': {},
  }),
);
afterAll(() => visits.close());

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
const style = (selector: string, property: string) =>
  `getComputedStyle(document.querySelector('${selector}')).${property}`;

visits.test(
  'a painted-on name is struck out in red, and its warning can be copied',
  clipboard,
  async (page) => {
    await page.goto(visits.address('tinyurl.com/dhl-paket'));
    await page.getByRole('heading', { name: 'This is not DHL. It leads to paket-zustellung.top' }).waitFor();
    const red = await page.evaluate(style('.verdict', 'backgroundColor'));
    expect(await page.evaluate(style('.site', 'color'))).toBe(red);
    expect(await page.evaluate(style('.destination s', 'textDecorationLine'))).toBe('line-through');
    expect(await page.locator('.destination s').textContent()).toBe('dhl.com.');
    await page.getByRole('button', { name: 'Copy as a warning' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'Beware of tinyurl[.]com/dhl-paket. This is not DHL. It leads to paket-zustellung[.]top.',
    );
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toMatch(/^(Copied|Beware\. This is not DHL\. It leads to paket-zustellung\.top)/);
    expect(await page.getByRole('link', { name: 'Open anyway' }).getAttribute('href')).toBe(imitation);
  },
);

visits.test('a place where anyone can publish is amber, and has its whole host', {}, async (page) => {
  await page.goto(visits.address('bit.ly/sites'));
  await page.getByText('Anyone can publish here', { exact: true }).waitFor();
  expect(await page.locator('.site').textContent()).toBe('sites.google.com');
  expect(await page.locator('.destination b').textContent()).toBe('sites.google.com');
  expect(await page.locator('.destination').textContent()).toContain('https://sites.google.com/view/chess');
});

visits.test('the last extension of a program stands out', {}, async (page) => {
  await page.goto(visits.address('is.gd/setup'));
  expect(await page.locator('.extension').textContent()).toBe('.exe');
  expect(await page.evaluate(style('.extension', 'color'))).toBe(
    await page.evaluate(style('.verdict', 'backgroundColor')),
  );
  await page.getByRole('link', { name: 'Download anyway' }).waitFor();
});

visits.test('an ordinary result has its title, its host and two folded lines', {}, async (page) => {
  await page.goto(visits.address('bit.ly/news'));
  await page.getByRole('heading', { name: 'Arctic Sea Ice Reaches a Record Low nytimes.com' }).waitFor();
  expect(await page.locator('summary').allTextContents()).toEqual([
    'Opens without 2 parts that only help to track you. Show the original',
    'How we got there: bit.ly → www.nytimes.com',
  ]);
  expect(await page.getByText('fbclid').first().isVisible()).toBe(false);
  await page.getByText('Show the original').click();
  expect(await page.locator('.tracked').textContent()).toContain('fbclid=b');
  expect(await page.getByRole('link', { name: 'Open it' }).getAttribute('href')).toBe(article);
});

visits.test('a readable name is large as written, and small in ASCII', {}, async (page) => {
  await page.goto(visits.address('müller.de'));
  expect(await page.locator('.site').textContent()).toBe('müller.de');
  expect(await page.locator('.destination').textContent()).toMatch(
    /As computers write it:\s+https:\/\/xn--mller-kva\.de\//,
  );
  const size = async (selector: string) =>
    Number.parseFloat(`${await page.evaluate(style(selector, 'fontSize'))}`);
  expect(await size('.site')).toBeGreaterThan(await size('.destination'));
  expect(await page.locator('body').textContent()).not.toMatch(/punycode/i);
});

/** Results that are not ordinary, although the link can be opened. */
const careful = ['scripted', 'cut', 'archive', 'minutes', 'empty'];
visits.test('"Page found" and "File" never stand beside "Open anyway"', {}, async (page) => {
  for (const path of [...careful, 'page', 'pdf']) {
    await page.goto(visits.address(`look.example/${path}`));
    const label = await page.locator('.actions [rel]').textContent();
    const isBroken = path === 'empty';
    const wary = isBroken ? 'Try it anyway' : 'Open anyway';
    expect([path, label]).toEqual([path, careful.includes(path) ? wary : 'Open it']);
    const fill = await page.evaluate(style('.verdict', 'backgroundColor'));
    expect([path, fill !== 'rgba(0, 0, 0, 0)']).toEqual([path, careful.includes(path)]);
  }
});

visits.test('every red result is copied as a warning', clipboard, async (page) => {
  for (const [path, reason] of [
    ['program', 'It downloads a program for Windows from files[.]example'],
    ['javascript', 'It does not lead to a web page'],
    ['mixed', 'This is not apple[.]example. It leads to a look-alike: xn--pple-43d[.]example'],
    ['paypal', 'This is not PayPal. It leads to a page at sites[.]google[.]com'],
  ]) {
    await page.goto(visits.address(`look.example/${path}`));
    expect(await page.locator('.verdict').textContent()).toBe('Beware');
    await page.getByRole('button', { name: 'Copy as a warning' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `Beware of look[.]example/${path}. ${reason}.`,
    );
  }
});

visits.test('the buttons stay in place when a warning has been copied', clipboard, async (page) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.addInitScript('navigator.share = async () => {}');
  await page.goto(visits.address('tinyurl.com/dhl-paket'));
  const open = page.getByRole('link', { name: 'Open anyway' });
  const before = await open.boundingBox();
  await page.getByRole('button', { name: 'Copy as a warning' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await open.boundingBox()).toEqual(before);
});

visits.test('Share is shown whether or not the link can be opened', {}, async (page) => {
  await page.addInitScript('navigator.share = async () => {}');
  for (const path of ['page', 'javascript', 'program', 'loop']) {
    await page.goto(visits.address(`look.example/${path}`));
    expect([path, await page.getByRole('button', { name: 'Share' }).isVisible()]).toEqual([path, true]);
  }
});

/** Returns the lines of each host on the page, and whether the host would fit on one. */
const hostLines = `[...document.querySelectorAll('.host > :first-child, .site')]
  .filter((host) => host.checkVisibility())
  .map((host) => {
    const lines = new Map();
    for (const piece of host.querySelectorAll('span')) {
      const line = Math.round(piece.getBoundingClientRect().bottom);
      lines.set(line, (lines.get(line) ?? '') + piece.textContent);
    }
    const box = host.closest('p, h2, summary, .destination, a');
    const { paddingLeft, paddingRight } = getComputedStyle(box);
    const room = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const whole = document.createElement('span');
    whole.style.cssText = 'position: absolute; white-space: nowrap';
    // Its slash or arrow stays beside a host.
    whole.textContent = host.closest('.host')?.textContent ?? host.textContent;
    host.append(whole);
    const { width } = whole.getBoundingClientRect();
    whole.remove();
    return { host: host.textContent, lines: [...lines.values()], fits: width < room - 2 };
  })`;

test.each([320, 390])(
  'a host breaks only if it must, before a dot or hyphen, at a width of %i pixels',
  (width) =>
    visits.visit({ viewport: { width, height: 800 } }, async (page) => {
      for (const path of ['parcel', 'mirror', 'mixed', 'microsoft', 'downgrade', 'javascript']) {
        await page.goto(visits.address(`look.example/${path}`));
        const hosts = (await page.evaluate(hostLines)) as { host: string; lines: string[]; fits: boolean }[];
        expect(hosts.length).toBeGreaterThan(0);
        const note = page.locator('.note .host');
        if (path === 'downgrade') expect(await note.textContent()).toBe('links.parcel-newsletter.example');
        for (const { host, lines, fits } of hosts) {
          if (fits) expect([path, lines]).toEqual([path, [host]]);
          for (const line of lines.slice(1)) expect(line).toMatch(/^[.-]/);
        }
      }
    }),
);

/** Returns the lines of each URL and of the line about the chain. */
const textLines = `[...document.querySelectorAll('.destination data, summary')].flatMap((element) => {
  const lines = new Map();
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode()) {
    const { currentNode: node } = walk;
    for (let at = 0; at < node.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const line = Math.round(range.getBoundingClientRect().bottom);
      lines.set(line, (lines.get(line) ?? '') + node.data[at]);
    }
  }
  return [...lines.values()].map((line) => line.trim());
})`;

visits.test('neither a slash nor an arrow is alone on a line', {}, async (page) => {
  for (const path of ['github', 'slashes', 'parcel', 'microsoft']) {
    await page.goto(visits.address(`look.example/${path}`));
    for (let width = 300; width < 420; width += 6) {
      await page.setViewportSize({ width, height: 800 });
      const alone = ((await page.evaluate(textLines)) as string[]).filter((line) => /^[/→]$/.test(line));
      expect([path, width, alone]).toEqual([path, width, []]);
    }
  }
});

visits.test('words on the line about the chain name what is not on the web', {}, async (page) => {
  for (const [path, words] of [
    ['javascript', 'a script'],
    ['line', 'LINE'],
    ['mail', 'your mail program'],
  ]) {
    await page.goto(visits.address(`look.example/${path}`));
    expect(await page.locator('#journey').textContent()).toBe(`How we got there: look.example → ${words}`);
  }
});

visits.test('words explain a status to the visitor', {}, async (page) => {
  for (const [path, words] of [
    ['404', 'The page does not exist. It may have been moved or deleted.'],
    ['500', 'The website is out of order.'],
  ]) {
    await page.goto(visits.address(`look.example/${path}`));
    expect(await page.locator('#explanation').textContent()).toBe(words);
    expect(await page.locator('[slot=result]').textContent()).not.toMatch(/returned|\b[45]\d\d\b(?!$)/);
  }
});
